package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

func reload(e *Engine, o Options) (needRestart []string) {
	turn(e, func() { needRestart = e.Reload(o) })
	return needRestart
}

func TestReloadNamesWhatCannotChange(t *testing.T) {
	e, _ := started(t, Options{Host: "127.0.0.1", Port: 5000, ServerName: "n", NatsdVersion: "0.1", GitCommit: "abc"})
	if got := reload(e, Options{Host: "127.0.0.1", Port: 5000, ServerName: "n", Debug: true}); got != nil || !e.opts.Debug {
		t.Errorf("%q", got)
	}
	got := reload(e, Options{Host: "::", Port: 1, ServerName: "m", MatchCache: 9, MaxPayload: 7})
	if !slices.Equal(got, []string{"host", "port", "server_name"}) {
		t.Errorf("%q", got)
	}
	if got := reload(e, Options{Host: "127.0.0.1", Port: 5000, ServerName: "n", MatchCache: -1, MaxPayload: 7}); !slices.Equal(got, []string{"disable_sublist_cache"}) {
		t.Errorf("%q", got)
	}
	o := e.opts
	if o.Host != "127.0.0.1" || o.Port != 5000 || o.ServerName != "n" || o.MatchCache != 4096 || o.NatsdVersion != "0.1" || o.GitCommit != "abc" || !o.Check {
		t.Errorf("%+v", o)
	}
	if o.MaxPayload == 7 || !o.Debug {
		t.Error("a part of what was refused is in force")
	}
}

// From a configuration with users to one with operators leads no reload: for the users are not in it any more.
func TestNoReloadToOperators(t *testing.T) {
	e, w := started(t, Options{Users: []config.User{{Name: "u", Password: "p"}}})
	if got := reload(e, Options{Operators: newOperatorWorld(t, config.MemoryResolver, nil).e.opts.Operators}); !slices.Equal(got, []string{"operator"}) {
		t.Errorf("%q", got)
	}
	for _, c := range []struct{ connect, want string }{{`{"user":"u","pass":"p"}`, "PONG"}, {`{}`, "Authorization Violation"}} {
		id := accept(e)
		w.take(id)
		say(e, id, "CONNECT "+c.connect+"\r\nPING\r\n")
		if got := w.take(id); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q", c.connect, got)
		}
	}
}

func TestReloadTellsClients(t *testing.T) {
	e, w := started(t, Options{})
	told, early := accept(e), accept(e)
	say(e, told, `CONNECT {"protocol":1,"verbose":false}`+"\r\nPING\r\n")
	w.take(told)
	w.take(early)
	reload(e, Options{PingInterval: time.Second})
	if w.take(told) != "" {
		t.Error("told although nothing changed for it")
	}
	reload(e, Options{MaxPayload: 1234, ClientAdvertise: "example.com:99"})
	if got := w.take(told); !strings.Contains(got, `"max_payload":1234`) || !strings.Contains(got, `"host":"example.com","port":99`) {
		t.Errorf("got %q", got)
	}
	if got := w.take(early); got != "" {
		t.Errorf("who has not asked for it got %q", got)
	}
	say(e, told, "PUB a 1235\r\n")
	if got := w.take(told); got != "-ERR 'Maximum Payload Violation'\r\n" {
		t.Errorf("got %q", got)
	}
}

// Lower limits hold for what is there already: who has more waiting than may wait is closed, closing or not.
func TestReloadLowersMaxPending(t *testing.T) {
	e, w := started(t, Options{})
	full, less, ending := w.join(e, "SUB a 1\r\n"), w.join(e, "SUB b 1\r\n"), w.join(e, "SUB a 1\r\n")
	pub := w.join(e, "")
	for _, c := range []ConnID{full, less, ending} {
		w.rooms[c] = 0
	}
	say(e, pub, "PUB a 5000\r\n"+strings.Repeat("x", 5000)+"\r\nPUB b 500\r\n"+strings.Repeat("x", 500)+"\r\n")
	turn(e, func() { e.EOF(ending) })
	reload(e, Options{MaxPending: 1000})
	if !w.gone[full] || !w.gone[ending] || w.gone[less] || w.gone[pub] {
		t.Fatalf("gone are %v", w.gone)
	}
	w.open(e, less)
	if got := len(w.take(less)); got < 500 {
		t.Fatalf("%d bytes arrived", got)
	}
	turn(e, func() { e.EOF(less); e.EOF(pub) })
	w.left(t, e)
}

func TestReloadShortensTimes(t *testing.T) {
	e, w := started(t, Options{PingInterval: time.Hour, WriteDeadline: time.Hour})
	idle, full := w.join(e, ""), w.join(e, "SUB a 1\r\n")
	w.advance(t, e, Instant(3*time.Second))
	say(e, idle, "PONG\r\n")
	say(e, full, "PONG\r\n")
	w.take(idle)
	w.rooms[full] = 0
	say(e, idle, "PUB a 1\r\nx\r\n")
	reload(e, Options{PingInterval: 10 * time.Second, WriteDeadline: 5 * time.Second})
	w.advance(t, e, Instant(5*time.Second))
	if !w.gone[full] {
		t.Error("the write deadline is the old one")
	}
	w.advance(t, e, Instant(6*time.Second))
	if got := w.take(idle); got != "PING\r\n" {
		t.Errorf("the ping interval is the old one: %q", got)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		text, host string
		port       int
	}{
		{"", "", 0}, {"h", "h", 0}, {"h:1", "h", 1}, {"h:65535", "h", 65535}, {"[::1]:4222", "::1", 4222}, {"[::1]", "::1", 0},
		{"::1", "::1", 0}, {"h:65536", "h:65536", 0}, {"h:x", "h:x", 0}, {"h:-1", "h:-1", 0}, {"1.2.3.4:5", "1.2.3.4", 5},
	} {
		if host, port := splitHostPort(c.text); host != c.host || port != c.port {
			t.Errorf("%q: %q and %d", c.text, host, port)
		}
	}
	if joinHostPort("::1", 2) != "[::1]:2" || joinHostPort("h", 0) != "h:0" {
		t.Error("join")
	}
}
