package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/natsd/natsd/wire"
)

// What a client does wrong is logged, but a client may do it as often as it likes: both the lines for one connection and
// those for all together are bounded. What was left out is counted in a line of its own.
const (
	complaintsPerConn  = 10
	complaintsInWindow = 500
	complaintWindow    = Instant(time.Second)
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

// complainAt logs what a client did wrong.
func (e *Engine) complainAt(level Level, c *conn, text string) {
	q := &e.complaints
	if e.now >= q.end {
		e.tellOmitted()
		q.end, q.lines = later(e.now, time.Duration(complaintWindow)), 0
	}
	if c.complaints >= complaintsPerConn || q.lines >= complaintsInWindow {
		q.omitted++
		return
	}
	q.lines++
	if c.complaints++; c.complaints == complaintsPerConn {
		text += " (further errors of this connection are not logged)"
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

// traceIn logs a control line that a client sent, without its secrets.
func (e *Engine) traceIn(c *conn, line []byte) {
	if verb, n := wire.ParseVerb(line); verb == wire.VerbConnect {
		line = append([]byte("CONNECT "), withoutSecrets(line[n:])...)
	}
	e.logf(LevelTrace, c.subject(), "<<- ["+printable(line)+"]")
}

// secrets are the keys of CONNECT whose values are not logged.
var secrets = [...]string{"auth_token", "jwt", "nkey", "pass", "sig"}

// withoutSecrets returns the JSON of a CONNECT without what must not be logged, its keys in order.
func withoutSecrets(args []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return []byte("(not a JSON object)") // and might hold a secret all the same
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(secrets[:], func(s string) bool { return strings.EqualFold(s, key) }) {
			all[key] = json.RawMessage(`"[REDACTED]"`)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return []byte("(not a JSON object)")
	}
	return text
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
