package host

import (
	"runtime"
	"sync"

	"github.com/natsd/natsd/engine"
)

// jobs runs the engine's jobs on a few goroutines, oldest first. They are pure computation: more of them than there are
// cores to spare would only take the processor from the loop. A thousand clients that log in at once must not stop it: where
// the system knows how, the loop's thread goes before theirs.
type jobs struct {
	mu      sync.Mutex
	queue   []job
	running int
}

type job struct {
	id  engine.JobID
	run func()
}

// longJobs is after how many jobs in a row a thread stands back farther.
const longJobs = 8

func (j *jobs) submit(s *Server, id engine.JobID, run func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue = append(j.queue, job{id, run})
	if j.running < besides(s.opts.processors()) {
		j.running++
		go j.work(s)
	}
}

// work runs jobs until none is left, or the server has ended.
func (j *jobs) work(s *Server) {
	runtime.LockOSThread() // the thread ends with the goroutine: it can't be raised again
	lowerThread(false)
	for n := 0; ; n++ {
		next, ok := j.take()
		if !ok {
			return
		}
		if n == longJobs {
			lowerThread(true)
		}
		next.run()
		if !s.post(func(e *engine.Engine) { e.JobDone(next.id) }) {
			j.mu.Lock()
			j.queue = nil // nobody waits for them any more
			j.mu.Unlock()
		}
	}
}

func (j *jobs) take() (next job, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		j.queue = nil
		j.running--
		return job{}, false
	}
	next = j.queue[0]
	j.queue[0] = job{}
	j.queue = j.queue[1:]
	return next, true
}
