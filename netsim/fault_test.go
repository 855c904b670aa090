package netsim

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/sim/schedule"
)

func TestPartitionHoldsBytesUntilHealed(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(n *Net, server, client *Host)
	}{
		{"both ways", func(n *Net, s, c *Host) { n.Partition(s, c) }},
		{"one way", func(n *Net, s, c *Host) { n.PartitionOneWay(c, s) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, RetransmitMax: second})
			s, b, a, d := w.pair()
			say(d, "under way, ")
			w.run(ms / 2)
			c.cut(w.net, s.host, b.host)
			say(d, "held")
			w.run(minute)
			s.expect()
			w.net.Heal(s.host, b.host)
			w.run(second + ms)
			if s.text(a) != "under way, held" {
				t.Fatal(s.log)
			}
			b.expect()
			if w.net.Counters().Retransmits != 1 {
				t.Fatalf("%+v", w.net.Counters())
			}
			w.clean2(d)
		})
	}
}

func TestOneWayPartitionBackStopsTheSenderAtItsWindow(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, SendBuffer: 10, RecvBuffer: 20})
	s, c, a, d := w.pair()
	w.net.PartitionOneWay(s.host, c.host)
	if n := say(d, "0123456789"); n != 10 {
		t.Fatal(n)
	}
	w.run(second)
	if s.text(a) != "0123456789" {
		t.Fatal(s.log)
	}
	if n := say(d, "more"); n != 0 { // it does not know that they arrived
		t.Fatal(n)
	}
	w.run(minute)
	c.expect()
	w.net.Heal(s.host, c.host)
	w.drain()
	c.expect("writable")
	w.clean2(d)
}

func TestDialThroughPartition(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, DialTimeout: 10 * second})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	w.net.Partition(s.host, c.host)
	c.host.Dial("10.0.0.1:4222")
	w.run(11 * second)
	c.expect("dialfailed connection timed out")
	w.clean()
	c.host.Dial("10.0.0.1:4222")
	w.run(second)
	w.net.Heal(s.host, c.host)
	w.drain()
	c.expect("connected")
	s.expect("up 1 :4222 4222", "accepted 1")
}

func TestWaitersOfGivenUpDialsDoNotPileUp(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s, c := w.host(0), w.host(1)
	w.net.Partition(s.host, c.host)
	for range 10_000 {
		d := c.host.Dial("10.0.0.1:4222")
		w.drain()
		d.Close()
	}
	if n := len(w.net.path(c.host, s.host).waiters); n > 2*sweepMin {
		t.Fatalf("%d waiters", n)
	}
}

func TestUserTimeout(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, UserTimeout: 30 * second})
	s, c, _, d := w.pair()
	say(d, "arrived before")
	w.run(second)
	s.log = nil
	w.net.Partition(s.host, c.host)
	w.run(10 * minute) // nothing is unacknowledged: it may stay
	c.expect()
	say(d, "void")
	w.run(30*second - 1)
	c.expect()
	w.run(1)
	c.expect("closed connection timed out")
	s.expect()
	w.net.Heal(s.host, c.host)
	w.drain()
	s.expect() // still believes in it
	say(s.conns[0], "anyone?")
	w.drain()
	s.expect("closed connection reset by peer")
	w.clean()
}

func TestKeepAlive(t *testing.T) {
	for _, c := range []struct {
		name           string
		fault          func(n *Net, server, client *Host)
		server, client string
	}{
		{"partition", func(n *Net, s, c *Host) { n.Partition(s, c) }, "closed connection timed out", "closed connection timed out"},
		{"one way", func(n *Net, s, c *Host) { n.PartitionOneWay(s, c) }, "closed connection timed out", "closed connection timed out"},
		{"power off", func(n *Net, s, c *Host) { c.PowerOff() }, "closed connection timed out", ""},
		{"power off and on", func(n *Net, s, c *Host) { c.PowerOff(); c.PowerOn() }, "closed connection reset by peer", ""},
		{"suspended", func(n *Net, s, c *Host) { c.Suspend() }, "closed connection timed out", ""},
		{"suspended and resumed", func(n *Net, s, c *Host) { c.Suspend(); c.Resume() }, "", ""},
		{"healed", func(n *Net, s, c *Host) { n.Partition(s, c); n.Heal(s, c) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 1, Config{KeepAlive: minute})
			s, b, _, _ := w.pair()
			c.fault(w.net, s.host, b.host)
			w.run(minute - 1)
			s.expect()
			b.expect()
			w.run(2)
			got := strings.Join(s.log, ";") + "|" + strings.Join(b.log, ";")
			if got != c.server+"|"+c.client {
				t.Fatal(got)
			}
		})
	}
}

func TestFlappingLinkDoesNotTimeOut(t *testing.T) {
	w := newWorld(t, 1, Config{KeepAlive: minute, UserTimeout: minute})
	s, c, _, d := w.pair()
	for range 10 {
		w.net.Partition(s.host, c.host)
		say(d, "x")
		w.run(50 * second)
		w.net.Heal(s.host, c.host)
		w.run(second)
	}
	c.expect()
	s.has("read x", 10)
	w.clean2(d)
}

func TestPowerOff(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, SendBuffer: 10})
	s, c, _, d := w.pair()
	say(d, "never seen")
	w.run(ms / 2)
	c.host.PowerOff()
	w.run(minute)
	s.expect()
	if say(s.conns[0], "into the void") != 10 {
		t.Fatal("the kernel takes what its buffer holds")
	}
	w.run(minute)
	s.expect()
	c.host.PowerOn()
	w.drain()
	s.expect("closed connection reset by peer")
	c.expect()
	w.clean()
}

func TestPowerOffOfTheServerRefusesNobody(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, DialTimeout: second})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	s.host.PowerOff()
	c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.expect("dialfailed connection timed out")
	s.host.PowerOn()
	c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.expect("dialfailed connection refused")
	s.expect()
	s.host.Listen(1, ":4222")
	c.host.Dial("10.0.0.1:4222")
	w.drain()
	c.expect("connected")
}

func TestSamePortAfterPowerLossReplacesTheOldConnection(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c, a, d := w.pair()
	c.host.PowerOff()
	c.host.PowerOn()
	e := c.host.Dial("10.0.0.1:4222")
	w.drain()
	if e.Port() != d.Port() {
		t.Fatal("another port")
	}
	s.expect("closed connection reset by peer", "accepted 1")
	if a.Open() {
		t.Fatal("the old one lives")
	}
	w.clean2(e)
}

func TestKill(t *testing.T) {
	for _, hard := range []bool{false, true} {
		w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, HardClose: hard})
		s, c, a, d := w.pair()
		s.lazy = true
		say(d, "unread")
		w.drain()
		say(a, "last words")
		s.log = nil
		s.host.Kill()
		w.drain()
		if hard {
			c.expect("read last words", "closed connection reset by peer")
		} else {
			c.expect("read last words", "eof")
			d.Close()
			w.drain()
		}
		s.expect()
		w.clean()
		if w.net.Residue().Listeners != 0 {
			t.Fatal("still listening")
		}
		s.host.Listen(2, ":4222")
		c.log = nil
		c.host.Dial("10.0.0.1:4222")
		w.drain()
		c.expect("connected")
	}
}

func TestKilledBeforeListenerUp(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s := w.host(0)
	s.host.Listen(1, ":4222")
	s.host.Listen(2, "bad")
	s.host.Kill()
	s.host.Listen(3, ":4222")
	w.drain()
	s.expect("up 3 :4222 4222")
}

func TestSuspendDelaysEverything(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c, a, d := w.pair()
	say(d, "to it")
	s.host.Suspend()
	say(a, "from it")
	w.run(minute)
	s.expect()
	c.expect()
	s.host.Resume()
	w.drain()
	s.expect("read to it")
	c.expect("read from it")
	w.clean2(d)
}

func TestVanish(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, SendBuffer: 8, KeepAlive: minute})
	s, c, a, d := w.pair()
	say(d, "under way")
	d.Vanish()
	if n := say(a, "0123456789"); n != 8 {
		t.Fatal(n)
	}
	w.run(minute - 1)
	s.expect()
	c.expect()
	w.run(ms)
	s.expect("closed connection timed out")
	c.expect("closed connection timed out")
	w.clean()
}

func TestBandwidthIsShared(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Bandwidth: 10_000}})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	one, two := c.host.Dial("10.0.0.1:4222"), c.host.Dial("10.0.0.1:4222")
	w.drain()
	say(one, strings.Repeat("a", 50_000))
	say(two, strings.Repeat("b", 50_000))
	w.run(5 * second)
	a, b := len(s.text(s.conns[0])), len(s.text(s.conns[1]))
	if a+b < 48_000 || a+b > 50_000 || a < 20_000 || b < 20_000 {
		t.Fatal(a, b)
	}
	w.net.SetLink(c.host, s.host, LinkProps{})
	w.run(ms * 200)
	if a, b = len(s.text(s.conns[0])), len(s.text(s.conns[1])); a != 50_000 || b != 50_000 {
		t.Fatal(a, b)
	}
	one.Close()
	two.Close()
	s.host.Kill()
	w.drain()
	w.clean()
}

func TestLinkLatencyIsOneWay(t *testing.T) {
	w := newWorld(t, 1, Config{})
	s, c, a, d := w.pair()
	w.net.SetLink(c.host, s.host, LinkProps{Latency: second})
	say(d, "slow")
	say(a, "fast")
	w.run(second - 1)
	s.expect()
	c.expect("read fast")
	w.run(1)
	s.expect("read slow")
}

func TestCutsAreSeen(t *testing.T) {
	w := newWorld(t, 1, Config{CutPerMillion: 1_000_000, CutMax: 3})
	s, _, a, d := w.pair()
	text := "PUB foo 5\r\nhello\r\nPUB bar 5\r\nworld\r\n"
	say(d, text)
	w.drain()
	if s.text(a) != text || len(s.log) < len(text)/3-3 {
		t.Fatal(len(s.log), s.log)
	}
	if n := w.net.Counters().Cuts; int(n) < len(s.log)-4 {
		t.Fatal(n)
	}
}

func TestJitterKeepsOrderAndMerges(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms, Jitter: 100 * ms}})
	s, _, a, d := w.pair()
	want := ""
	for i := range 100 {
		text := string(rune('a' + i%26))
		want += text
		say(d, text)
		w.run(ms)
	}
	w.drain()
	if s.text(a) != want {
		t.Fatal(s.text(a))
	}
	if len(s.log) > 60 {
		t.Fatalf("%d reads: nothing was merged", len(s.log))
	}
}

func TestStall(t *testing.T) {
	w := newWorld(t, 1, Config{StallPerMillion: 1_000_000, StallMin: minute, StallMax: minute})
	s, _, a, d := w.pair()
	say(d, "x")
	w.run(minute - 1)
	s.expect()
	w.run(1)
	s.expect("read x")
	say(a, "y")
	say(d, "z")
	w.run(second)
	w.net.Calm()
	w.run(1)
	s.expect("read z")
}

func TestDrawnReset(t *testing.T) {
	partial := false
	only := false
	for seed := range uint64(50) {
		w := newWorld(t, seed, Config{ResetPerMillion: 1_000_000})
		s, c, a, d := w.pair()
		say(d, "0123456789")
		w.run(second / 2)
		s.has("closed connection reset by peer", 1)
		got := s.text(a)
		if !strings.HasPrefix("0123456789", got) {
			t.Fatal(got)
		}
		partial = partial || len(got) > 0 && len(got) < 10
		if d.Open() { // it learns when it sends
			only = true
			say(d, "again")
			w.run(second / 2)
		}
		c.expect("closed connection reset by peer")
		w.drain()
		w.clean()
	}
	if !partial || !only {
		t.Fatal("no reset within a segment, or none that only the receiver learns of")
	}
}

func TestDrawnHalfOpen(t *testing.T) {
	told := 0
	for seed := range uint64(20) {
		w := newWorld(t, seed, Config{HalfOpenPerMillion: 1_000_000, HalfOpenMax: minute})
		s, c, _, d := w.pair()
		say(d, "0123456789")
		w.run(10 * minute)
		told += len(s.log)
		if len(s.log) != len(c.log) {
			t.Fatal(s.log, c.log)
		}
		d.Close()
		s.host.Kill()
		w.drain()
		w.clean()
	}
	if told == 0 || told == 20 {
		t.Fatalf("%d of 20 were reset later", told)
	}
}

func TestDrawnDialFaults(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{RefusePerMillion: 1_000_000}, "dialfailed connection refused"},
		{Config{DialHangPerMillion: 1_000_000, DialTimeout: minute}, "dialfailed connection timed out"},
		{Config{DialHangPerMillion: 1_000_000}, ""},
	} {
		w := newWorld(t, 1, c.cfg)
		s, b := w.host(0), w.host(1)
		s.host.Listen(1, ":4222")
		d := b.host.Dial("10.0.0.1:4222")
		w.drain()
		if got := strings.Join(b.log, ";"); got != c.want {
			t.Fatal(got)
		}
		d.Close()
		w.clean()
	}
}

func TestCalm(t *testing.T) {
	w := newWorld(t, 1, Config{RefusePerMillion: 1_000_000})
	s, c := w.host(0), w.host(1)
	s.host.Listen(1, ":4222")
	w.net.Partition(s.host, c.host)
	w.net.SetLink(s.host, c.host, LinkProps{Latency: schedule.Time(1e15)})
	s.host.Suspend()
	c.host.Dial("10.0.0.1:4222")
	w.run(second)
	c.expect()
	w.net.Calm()
	w.run(second)
	c.expect("connected")
	k := w.net.Counters()
	if n := k.Faults(); n != 4 { // two directions cut, a slow link, a suspension
		t.Fatalf("%d faults: %+v", n, k)
	}
}

func TestRefusedBytesDoNotOvertakeTheLastWords(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	_, c, a, d := w.pair()
	c.lazy = true
	say(a, "-ERR")
	a.Close()
	say(d, "crossing")
	w.drain()
	c.expect("readable")
	c.read(d, 100)
	c.expect("read -ERR", "eof")
	say(d, "x")
	w.drain()
	c.expect("closed connection reset by peer")
	w.clean()
}

func TestCloseFreesABlockedSender(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, SendBuffer: 8, RecvBuffer: 8})
	s, c, a, d := w.pair()
	s.lazy, c.lazy = true, true
	say(d, strings.Repeat("x", 8))
	w.drain()
	say(d, strings.Repeat("x", 100))
	w.drain()
	a.Close()
	w.drain()
	c.expect("readable", "writable")
}

func TestIdleConnectionOutlivesAnOutage(t *testing.T) {
	for name, fault := range map[string]func(n *Net, s, c *Host){ //natsd:orderfree each is a world of its own
		"partition": func(n *Net, s, c *Host) { n.Partition(s, c) },
		"suspended": func(n *Net, s, c *Host) { s.Suspend() },
		"powerless": func(n *Net, s, c *Host) { s.PowerOff() },
	} {
		w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, UserTimeout: minute})
		s, c, _, d := w.pair()
		say(d, "arrives")
		w.run(second)
		fault(w.net, s.host, c.host)
		w.run(10 * minute)
		if !d.Open() {
			t.Fatal(name, c.log)
		}
	}
}

func TestLostResetFollowsWhenItIsOwed(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}, RetransmitMax: second})
	s, c, a, _ := w.pair()
	c.host.PowerOff()
	c.host.PowerOn()
	say(a, "hello?")
	w.run(ms + ms/2) // the reset is under way
	w.net.PartitionOneWay(c.host, s.host)
	w.run(minute)
	s.expect()
	w.net.Heal(s.host, c.host)
	w.run(2 * second)
	s.expect("closed connection reset by peer")
	w.clean()
}

func TestSpontaneousResetIsLostInAPartition(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c, a, d := w.pair()
	w.net.Partition(s.host, c.host)
	d.Abort()
	w.run(minute)
	w.net.Heal(s.host, c.host)
	w.run(minute)
	s.expect()
	say(a, "there?")
	w.drain()
	s.expect("closed connection reset by peer")
	w.clean()
}

func TestPowerLossLosesWhatIsUnderWay(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Latency: ms}})
	s, c, _, d := w.pair()
	say(d, "lost")
	w.run(ms / 2)
	c.host.PowerOff()
	c.host.PowerOn()
	w.drain()
	s.expect()
}

func TestCalmEndsTheStallOfAClosedSender(t *testing.T) {
	w := newWorld(t, 1, Config{StallPerMillion: 1_000_000, StallMin: minute, StallMax: minute})
	s, _, _, d := w.pair()
	say(d, "x")
	d.Abort()
	w.run(second)
	w.net.Calm()
	w.run(ms)
	s.expect("read x", "closed connection reset by peer")
	w.drain()
	w.clean()
}

func TestFirstBytesMayOvertakeTheLastLegOfTheDial(t *testing.T) {
	for seed := range uint64(30) {
		w := newWorld(t, seed, Config{Link: LinkProps{Latency: ms}, RetransmitMax: second})
		s, c := w.host(0), w.host(1)
		s.host.Listen(1, ":4222")
		d := c.host.Dial("10.0.0.1:4222")
		w.run(2 * ms)
		w.net.Partition(s.host, c.host)
		say(d, "hi")
		w.run(minute)
		w.net.Heal(s.host, c.host)
		w.run(10 * ms)
		w.drain()
		s.expect("up 1 :4222 4222", "accepted 1", "read hi")
		w.clean2(d)
	}
}

func TestWiderLinkTakesEffectAtOnce(t *testing.T) {
	w := newWorld(t, 1, Config{Link: LinkProps{Bandwidth: 100}})
	s, c, a, d := w.pair()
	say(d, strings.Repeat("x", 5000))
	w.run(second)
	w.net.SetLink(c.host, s.host, LinkProps{})
	w.run(15 * second) // the turn of 1,460 bytes that is under way takes its time
	if n := len(s.text(a)); n != 5000 {
		t.Fatal(n)
	}
}
