package engine

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// What a client does wrong is logged, but a client may do it as often as it likes: both the lines for one connection and
// those for all together are bounded. What was left out is counted in a line of its own.
const (
	complaintsPerConn  = 10
	complaintsInWindow = 500
	complaintWindow    = Instant(time.Second)
	complaintSpan      = Instant(time.Minute) // for which complaintsPerConn count
)

// logTextMax bounds the bytes of what a client sent that one log line shows.
const logTextMax = 1024

// complaints counts the lines about clients' errors.
type complaints struct {
	end     Instant // of the window
	lines   int     // in the window
	omitted int     // since the last line that told
}

func (e *Engine) logf(level Level, subject, text string) { e.env.Log.Log(level, subject, text) }

// complain logs an error of a client.
func (e *Engine) complain(c *conn, text string) { e.complainAt(LevelError, c, text) }

// heeds reports whether what a client did wrong is to be logged; if not, it is counted. Who makes a text where clients can make
// many mistakes asks first.
func (e *Engine) heeds(c *conn) bool {
	q := &e.complaints
	if e.now >= q.end {
		e.tellOmitted()
		q.end, q.lines = later(e.now, time.Duration(complaintWindow)), 0
	}
	if e.now >= c.complaintsEnd {
		c.complaints, c.complaintsEnd = 0, later(e.now, time.Duration(complaintSpan))
	}
	if c.complaints >= complaintsPerConn || q.lines >= complaintsInWindow {
		q.omitted++
		return false
	}
	return true
}

// complainAt logs what a client did wrong.
func (e *Engine) complainAt(level Level, c *conn, text string) {
	if !e.heeds(c) {
		return
	}
	e.complaints.lines++
	if c.complaints++; c.complaints == complaintsPerConn {
		text += " (further errors of this connection in this minute are not logged)"
	}
	e.logf(level, c.subject(), text)
}

// tellOmitted logs how many complaints were left out, if any were.
func (e *Engine) tellOmitted() {
	if n := e.complaints.omitted; n > 0 {
		e.complaints.omitted = 0
		e.logf(LevelWarn, "", strconv.Itoa(n)+" errors of clients were not logged")
	}
}

// hushed counts what may happen very often and the log is told of in sum, once in hushedSpan at most.
type hushed struct {
	n      int
	silent Instant // the log is told of nothing before
}

const hushedSpan = 10 * time.Second

// add counts one more. It reports whether the log may be told of it: it is the first.
func (h *hushed) add(now Instant) (first bool) {
	h.n++
	return h.n == 1 && now >= h.silent
}

// take returns how many there were, to be told; 0: there were none, or it is too soon.
func (h *hushed) take(now Instant) (n int) {
	if h.n == 0 || now < h.silent {
		return 0
	}
	n, h.n, h.silent = h.n, 0, later(now, hushedSpan)
	return n
}

// quotedMax bounds the bytes of a name that log lines of a connection show.
const quotedMax = 256

// quoted makes text of a name that a client chose.
func quoted(s string) string {
	if len(s) > quotedMax {
		s = s[:quotedMax] + "..."
	}
	return strconv.Quote(s)
}

// printable makes text of what a peer sent: one line without control characters, cut at logTextMax.
func printable(b []byte) string {
	cut := len(b) > logTextMax
	if cut {
		b = b[:logTextMax]
	}
	s := string(b)
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			q := strconv.Quote(s)
			s = q[1 : len(q)-1]
			break
		}
	}
	if cut {
		s += "…"
	}
	return s
}
