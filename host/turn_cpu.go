package host

import "time"

// turnCPU tells how much CPU turns used. By the clock a turn may be long because other processes had the core meanwhile; that
// is the machine's doing, and the CPU tells it from a turn that did too much.
//
// The CPU of a thread is known to the kernel only, and a call for it costs as much as some messages do. So turns that are short
// do without: their CPU counts with that of the next long one. It is a bound, never less than what was used.
type turnCPU struct {
	locked bool          // the loop has a thread of its own
	read   time.Duration // what the thread had used when that was read last
}

// shortTurn is up to where a turn's time says enough.
const shortTurn = 500 * time.Microsecond

// most returns a bound on the CPU that a turn used which took so long and ends now.
func (t *turnCPU) most(took time.Duration) time.Duration {
	if took <= shortTurn || !t.locked {
		return took
	}
	now, known := threadCPU()
	if !known {
		return took
	}
	used := now - t.read
	t.read = now
	return min(used, took)
}
