package host

import (
	"syscall"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

func TestSeldomThinsOutComplaints(t *testing.T) {
	s := seldom{every: 5 * time.Second}
	begin := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "full"},
		{100 * time.Millisecond, ""},
		{4999 * time.Millisecond, ""},
		{5 * time.Second, "full (not logged before: 2)"},
		{6 * time.Second, ""},
		{time.Minute, "full (not logged before: 1)"},
		{2 * time.Minute, "full"},
	} {
		if got := s.say(begin.Add(c.after), "full"); got != c.want {
			t.Errorf("after %v: %q, want %q", c.after, got, c.want)
		}
	}
}

// While there is no room for connections, the log says so and is not flooded with it.
func TestConnectionsThatCantBeAcceptedAreLoggedSeldom(t *testing.T) {
	for _, portable := range []bool{false, true} {
		var lines []string
		log := logFunc(func(_ engine.Level, _, text string) { lines = append(lines, text) })
		s, err := New(Options{Log: log, Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			s.notAccepted(syscall.EMFILE)
		}
		s.loop.close()
		if want := "A connection could not be accepted: " + error(syscall.EMFILE).Error(); len(lines) == 0 || len(lines) > 2 || lines[0] != want {
			t.Errorf("portable %v: logged %q, want %q once", portable, lines, want)
		}
	}
}

type logFunc func(l engine.Level, subject, text string)

func (f logFunc) Log(l engine.Level, subject, text string) { f(l, subject, text) }
