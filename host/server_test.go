package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// permits are options by which a user may subscribe to everything but one subject.
func permits(denied string) engine.Options {
	return engine.Options{Host: "127.0.0.1", Port: -1, Users: []config.User{{
		Name: "u", Password: "p",
		Permissions: &config.Permissions{Subscribe: &config.SubjectPermission{Deny: []config.Subject{{Text: denied}}}},
	}}}
}

// Reloads come into force one at a time, in order, each when connections have followed the one before, and though nothing else
// happens that would wake the loop. Many subscriptions take more than a turn to follow.
func TestReloadsWaitForEachOther(t *testing.T) {
	for _, portable := range []bool{false, true} {
		for _, subs := range []int{0, 5000} {
			reloadAtOnce(t, portable, subs)
		}
	}
}

func reloadAtOnce(t *testing.T, portable bool, subs int) {
	s, err := New(Options{Engine: permits("x.0"), Portable: portable, Log: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run()
	<-s.Ready()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	lines.WriteString("CONNECT {\"user\":\"u\",\"pass\":\"p\",\"verbose\":false}\r\n")
	for i := range subs {
		fmt.Fprintf(&lines, "SUB y.%d %d\r\n", i, i)
	}
	lines.WriteString("PING\r\n")
	if _, err := io.WriteString(c, lines.String()); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	for text := ""; !strings.Contains(text, "PONG\r\n"); {
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b[:n])
	}
	const reloads = 4
	order := make(chan int, reloads)
	for i := range reloads {
		s.Reload(permits(fmt.Sprintf("x.%d", i+1)), func(needRestart []string) {
			if len(needRestart) > 0 {
				t.Errorf("needs a restart: %v", needRestart)
			}
			if !s.e.Following() {
				t.Error("all have followed at once: nothing has to wait")
			}
			order <- i
		})
	}
	var got []int
	for range reloads {
		got = append(got, <-order)
	}
	if !slices.IsSorted(got) {
		t.Errorf("reloads came in the order %v", got)
	}
	c.Close()
	s.Stop()
	<-s.Done()
}

// Who gives up a server is told nothing of a reload that waits: Done is all there is.
func TestDiscardWithAWaitingReload(t *testing.T) {
	for _, portable := range []bool{false, true} {
		s, err := New(Options{Engine: permits("x"), Portable: portable, Log: nothing{}})
		if err != nil {
			t.Fatal(err)
		}
		late := func([]string) { t.Error("a reload was carried out") }
		s.Reload(permits("y"), late)
		s.Discard()
		<-s.Done()
		<-s.Ready()
		s.Reload(permits("z"), late)
		if f := s.Footprint(); f != (engine.Footprint{}) {
			t.Errorf("holds %+v", f)
		}
	}
}

// When Opened refuses, nobody is let in, the address is closed, and Run says why.
func TestOpenedRefuses(t *testing.T) {
	no := errors.New("no")
	for _, portable := range []bool{false, true} {
		at := 0
		s, err := New(Options{Engine: permits("x"), Portable: portable, Log: nothing{}, Opened: func(port int) error {
			at = port
			return no
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); !errors.Is(err, no) {
			t.Errorf("Run returned %v", err)
		}
		<-s.Ready()
		<-s.Done()
		if s.Port() != 0 || at == 0 {
			t.Errorf("Port is %d, Opened was told %d", s.Port(), at)
		}
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", at)); err == nil {
			t.Error("the address is open")
			c.Close()
		}
	}
}

// The end waits for what was asked of the directory of account JWTs, but not for ever.
func TestTheEndWaitsForTheDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{clock: newClock()}
		s.loop = newPortable(s)
		s.vault.s = s
		waited := func() time.Duration {
			from := time.Now()
			s.vault.finish()
			return time.Since(from)
		}
		if d := waited(); d != 0 {
			t.Errorf("waited %v for nothing", d)
		}
		answer := make(chan struct{})
		s.vault.do(vaultOp{id: 1, run: func() engine.VaultResult {
			<-answer
			return engine.VaultResult{}
		}})
		if d := waited(); d != vaultEndWait {
			t.Errorf("waited %v for a disk that doesn't answer", d)
		}
		time.AfterFunc(time.Second, func() { close(answer) })
		if d := waited(); d != time.Second {
			t.Errorf("waited %v for a disk that answers after a second", d)
		}
	})
}
