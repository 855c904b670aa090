package engine

import (
	"strings"
	"testing"
	"time"
)

// A client that errs without end does not fill the disk with it; that it erred is told.
func TestComplaintsAreBounded(t *testing.T) {
	e, w := started(t, Options{})
	c := w.join(e, "")
	before := len(w.log)
	say(e, c, strings.Repeat("SUB . 1\r\n", 5000))
	w.settle(t, e)
	if n := len(w.log) - before; n != complaintsPerConn {
		t.Fatalf("%d lines about one connection", n)
	}
	if got := strings.Count(w.take(c), "-ERR 'Invalid Subject'\r\n"); got != 5000 {
		t.Fatalf("the client was told %d times", got)
	}
	w.advance(t, e, 2*complaintWindow)
	w.join(e, "")
	if !w.logged("4990 errors of clients were not logged") {
		t.Fatalf("what was left out is not told: %q", w.log[before:])
	}
	before = len(w.log)
	w.advance(t, e, complaintSpan)
	say(e, c, strings.Repeat("SUB . 1\r\n", 5000))
	w.settle(t, e)
	if n := len(w.log) - before; n != complaintsPerConn {
		t.Fatalf("%d lines about one connection a minute later", n)
	}
	w.advance(t, e, 2*complaintWindow)
	w.join(e, "")
	before = len(w.log)
	for range 2 * complaintsInWindow {
		say(e, w.join(e, ""), "FOO\r\n")
	}
	if n := len(w.log) - before; n != complaintsInWindow {
		t.Fatalf("%d lines in a moment", n)
	}
}

// A log line is one line of text, whatever a client sends, and of a bounded size.
func TestLogLinesAreText(t *testing.T) {
	e, w := started(t, Options{Trace: true, Debug: true, MaxSubTokens: 2, MaxControlLine: 1 << 20})
	c := w.join(e, "")
	say(e, c, "SUB a.b.\x1b[31m\x00\x85.d 1\r\nSUB "+strings.Repeat("z", 500_000)+" 2\r\nPUB \xff\xfe 0\r\n\r\nFOO\x07\rBAR\r\n")
	for _, line := range w.log {
		if len(line) > 3*logTextMax {
			t.Errorf("a line of %d bytes", len(line))
		}
		for _, r := range line {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '�' {
				t.Errorf("%q is not plain text", line)
				break
			}
		}
	}
	if !w.logged(`\x1b[31m`) {
		t.Errorf("the subject is not named: %q", w.log)
	}
}

// No credential gets into the log.
func TestTraceHidesSecrets(t *testing.T) {
	for _, sent := range []string{
		`CONNECT {"user":"me","pass":"sesame","PASS":"sesame","auth_token":"sesame","jwt":"sesame","sig":"sesame","nkey":"sesame","name":"x"}`,
		`connect{"pass":"sesame"`, `CONNECT {"pass":["sesame"]}`, `CONNECT {"protocol":"sesame"}`, `CONNECT "sesame"`, `CONNECT {"pass":"sesame"}{}`,
		`CONNECT {"Auth_Token":"sesame"}`,
	} {
		e, w := started(t, Options{Trace: true, Debug: true})
		c := accept(e)
		say(e, c, sent+"\r\n")
		w.advance(t, e, Instant(time.Second))
		if !w.logged("<<- [CONNECT ") && !w.logged("can't be read") {
			t.Errorf("%s: not traced: %q", sent, w.log)
		}
		for _, line := range w.log {
			if strings.Contains(line, "sesame") && !strings.Contains(sent, "protocol") {
				t.Errorf("%s: logged %q", sent, line)
			}
		}
	}
}
