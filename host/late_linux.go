package host

import (
	"time"

	"github.com/natsd/natsd/engine"
)

// The engine bounds what it writes in a turn by what writing costs as a rule. Where memory is short, or cold, it costs ten
// times that. So when a turn has lasted lateAfter and more than lateBytes were written in it, the network takes nothing more
// before the next turn. What is put off counts as taken in part: Writable follows.
const (
	lateAfter = 2 * time.Millisecond
	lateBytes = 512 << 10
	lateSmall = 16 << 10 // up to so many bytes are written to a connection even then: answers don't wait behind what is slow
)

// late is what is put off to the next turn.
type late struct {
	bytes int             // written this turn
	ids   []engine.ConnID // that are writable in the next turn
	told  []engine.ConnID // ids of the turn before
}

// full reports that bufs are not to be written in the turn that began then.
func (l *late) full(began time.Time, bufs [][]byte) bool {
	if l.bytes <= lateBytes || time.Since(began) <= lateAfter {
		return false
	}
	n := 0
	for _, b := range bufs {
		n += len(b)
	}
	return n > lateSmall
}

// begin tells the engine, in a new turn, who is writable after all.
func (l *late) begin(e *engine.Engine) {
	l.told, l.ids = l.ids, l.told[:0]
	for _, id := range l.told {
		e.Writable(id)
	}
}
