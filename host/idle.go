package host

import (
	"runtime/debug"
	"time"

	"github.com/natsd/natsd/engine"
)

// Go gives memory back to the system as the collector runs, which it seldom does in a process with nothing to do: what a burst
// took would stay for long. So a server that has become idle does it, once.
const (
	idleLook    = 10 * time.Second // how often it is looked
	idleFor     = 3                // looks in a row without work
	idlePercent = 1.0              // of one core, which is still no work
	idleWorth   = 24 << 20         // bytes that have come since: less is not worth it
)

// ReturnMemory gives memory back to the system when the server has been idle for half a minute, until it has ended. It is for
// processes that do nothing but serve, as it is the whole process's memory. It takes some milliseconds of a core beside the
// loop's; where the system does not tell how much the process works (other than Linux), it does nothing.
func (s *Server) ReturnMemory() {
	if !measuresCPU {
		return
	}
	t := time.NewTicker(idleLook)
	defer t.Stop()
	var u usage
	var i idleness
	for {
		select {
		case <-s.done:
			return
		case <-t.C:
		}
		if i.due(u.sample()) {
			s.giveUpSpare()
			debug.FreeOSMemory()
			i.kept, _ = u.sample()
		}
	}
}

// giveUpSpare has the engine keep no blocks for reuse.
func (s *Server) giveUpSpare() {
	did := make(chan struct{})
	s.post(func(e *engine.Engine) {
		e.GiveUpSpare()
		close(did)
	})
	select {
	case <-did:
	case <-s.done:
	}
}

// idleness watches for when a process has become idle.
type idleness struct {
	quiet int   // looks in a row without work
	kept  int64 // resident when memory was given back last: what is in use
}

// due reports whether memory should be given back now: it has grown, and there has been no work for a while. rss is what is
// resident now, in bytes, and percent the work since the last time.
func (i *idleness) due(rss int64, percent float64) bool {
	if percent >= idlePercent {
		i.quiet = 0
		return false
	}
	i.quiet++
	i.kept = min(i.kept, rss)
	if i.quiet < idleFor || rss-i.kept < idleWorth {
		return false
	}
	i.quiet = 0 // what little goes on is not to be slowed each time
	return true
}
