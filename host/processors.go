package host

import "runtime"

// processors is how many there are to use.
func (o *Options) processors() int {
	if o.Processors > 0 {
		return o.Processors
	}
	return runtime.GOMAXPROCS(0)
}

// besides is how many of n processors are for what is not the loop.
func besides(n int) int { return max(n-1, 1) }

// edgeWorkersMax bounds the threads; one is worth several gigabytes a second.
const edgeWorkersMax = 16

// edgeWorkers is how many threads serve TLS connections.
func edgeWorkers(processors int) int { return min(besides(processors), edgeWorkersMax) }
