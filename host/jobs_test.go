package host

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// nothing is a log that keeps nothing.
type nothing struct{}

func (nothing) Log(engine.Level, string, string) {}

func TestJobsRunOnFewGoroutines(t *testing.T) {
	for _, portable := range []bool{false, true} {
		s, err := New(Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1}, Portable: portable, Log: nothing{}})
		if err != nil {
			t.Fatal(err)
		}
		go s.Run()
		<-s.Ready()
		const n = 200
		var running, most, done atomic.Int64
		finished := make(chan struct{})
		for range n {
			s.Submit(1<<60, func() { // an id that the engine does not know, so it ignores it
				now := running.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				running.Add(-1)
				if done.Add(1) == n {
					close(finished)
				}
			})
		}
		select {
		case <-finished:
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d jobs are done", done.Load(), n)
		}
		if m := most.Load(); m > int64(besides(s.opts.processors())) {
			t.Errorf("%d jobs ran at a time, want %d at most", m, besides(s.opts.processors()))
		}
		s.Stop()
		<-s.Done()
		// After the end jobs are given up; their workers end.
		for range n {
			s.Submit(1<<60, func() {})
		}
		waitFor(t, "the workers to end", func() bool {
			s.jobs.mu.Lock()
			defer s.jobs.mu.Unlock()
			return s.jobs.running == 0 && s.jobs.queue == nil
		})
	}
}
