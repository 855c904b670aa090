package host

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// unreadMax is how many bytes of answers may wait for who asked. One answer more is begun however long it is, as there has to be
	// one that shows everything.
	unreadMax = 64 << 20
	// unreadSmall is the length in bytes of an answer that is given though there is no room: who looks at counters and health gets
	// them whoever reads slowly besides.
	unreadSmall = 64 << 10
	// unreadGrace is how long anybody may read though there is no room for others. It is less than the time to write an answer in.
	unreadGrace = 2 * time.Second
)

// errUnread is told to whom there is no room for.
var errUnread = errors.New("Too many answers wait for clients that read them slowly")

// unreadAnswers are the answers that are being written, each of which holds its bytes for as long as who asked takes to read them. Where
// they are too many, the clients that have been reading for longest have their connections ended, so that clients that read slowly,
// by intent or not, keep neither the memory nor others out. Any thread may use it.
type unreadAnswers struct {
	max   int64
	grace time.Duration

	mu      sync.Mutex
	bytes   int64     // of all readers
	readers []*reader // in the order in which they began
}

// reader is a client that an answer is being written to.
type reader struct {
	size  int64
	since time.Time
	end   func() // has the write fail; called while the reader is among its readers alone
}

func newUnreadAnswers() *unreadAnswers {
	return &unreadAnswers{max: unreadMax, grace: unreadGrace}
}

// begin makes room for an answer of so many bytes, and reports whether there is any. leave must follow if so.
func (u *unreadAnswers) begin(r *reader, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.bytes >= u.max && len(u.readers) > 0 && now.Sub(u.readers[0].since) >= u.grace {
		u.readers[0].end()
		u.forget(0)
	}
	if u.bytes >= u.max && r.size > unreadSmall {
		return false
	}
	r.since = now
	u.bytes += r.size
	u.readers = append(u.readers, r)
	return true
}

// leave gives the room back, unless others have it by now.
func (u *unreadAnswers) leave(r *reader) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := slices.Index(u.readers, r); i >= 0 {
		u.forget(i)
	}
}

func (u *unreadAnswers) forget(i int) {
	u.bytes -= u.readers[i].size
	u.readers = slices.Delete(u.readers, i, i+1)
}

// write writes an answer if there is room for it. The header has been set.
func (u *unreadAnswers) write(w http.ResponseWriter, status int, body []byte) {
	// What the array has besides the body is held too.
	r := &reader{size: int64(cap(body)), end: func() {
		// A writer that has no deadlines waits for nobody.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	}}
	if !u.begin(r, time.Now()) {
		refuse(w, errUnread)
		return
	}
	defer u.leave(r)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone: nobody to tell
}

// writeJSON writes an answer. (There is no JSONP: nats-server 2.15 has none either.)
func (u *unreadAnswers) writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	u.write(w, status, body)
}
