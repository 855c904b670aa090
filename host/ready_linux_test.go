package host

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/natsd/natsd/engine"
)

// crowd is a loop without its thread: the test says when there is an event, and has turns taken.
type crowd struct {
	t *testing.T
	p *epoll
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	s, err := New(Options{Log: nothing{}, ReadBytes: crowdBuffer, Engine: engine.Options{Host: "127.0.0.1", Port: -1, TurnWork: 1024}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.loop.(*epoll)
	t.Cleanup(p.close)
	s.start()
	w := &crowd{t, p}
	w.turn(func(*engine.Engine) {})
	return w
}

const crowdBuffer = 4096

func (w *crowd) turn(body func(*engine.Engine)) {
	w.p.s.turn(func(e *engine.Engine) bool { body(e); return w.p.deliver(e, nil) })
}

// join adds a connection, and returns its slot and its peer.
func (w *crowd) join() (slot uint32, peer int) {
	w.t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { unix.Close(fds[1]) })
	w.p.s.turn(func(e *engine.Engine) bool {
		id := e.Accepted(1, engine.ConnInfo{IP: netip.MustParseAddr("127.0.0.1").String(), Port: 1})
		for int(id.Slot()) >= len(w.p.socks) {
			w.p.socks = append(w.p.socks, sock{})
		}
		w.p.socks[id.Slot()] = sock{id: id, fd: int32(fds[0])}
		slot = id.Slot()
		return false
	})
	return slot, fds[1]
}

// says has a peer send something, of which the loop learns in the next turn.
func (w *crowd) says(slot uint32, peer int, text string) {
	w.t.Helper()
	if n, err := unix.Write(peer, []byte(text)); n != len(text) {
		w.t.Fatalf("%d bytes of %d: %v", n, len(text), err)
	}
	ev := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(slot), Pad: int32(uint32(w.p.socks[slot].id >> 32))}
	w.p.s.turn(func(e *engine.Engine) bool { w.p.happened(e, ev); return false })
}

const hello = `CONNECT {"verbose":false}` + "\r\nPING\r\n"

// Who sends little is read from in the turn after, however many send without pause; what has had its share waits for the others, and
// so does who has only just come. All get round.
func TestWhoSendsLittleIsReadFromFirst(t *testing.T) {
	w := newCrowd(t)
	const many, each = 30, 20
	quiet, quietPeer := w.join()
	w.says(quiet, quietPeer, hello)
	w.turn(func(*engine.Engine) {})
	answered := func() bool { return bytes.HasSuffix(drainFD(t, quietPeer), []byte("PONG\r\n")) }
	if !answered() {
		t.Fatal("no answer without others")
	}
	var slots []uint32
	for range many {
		slot, peer := w.join()
		slots = append(slots, slot)
		w.says(slot, peer, hello+strings.Repeat("PUB a 0\r\n\r\n", each*crowdBuffer/11))
	}
	w.turn(func(*engine.Engine) {})
	more := func() bool { // the engine pauses those who have more for it than their share
		return slices.ContainsFunc(slots, func(slot uint32) bool { return w.p.socks[slot].readable })
	}
	pings, turns := 0, 0
	for ; more(); turns++ {
		if turns > 100*each {
			t.Fatalf("not all was read in %d turns", turns)
		}
		if turns%3 == 0 {
			w.says(quiet, quietPeer, "PING\r\n")
			if w.turn(func(*engine.Engine) {}); !answered() {
				t.Fatalf("PING %d was not answered in the next turn", pings)
			}
			pings++
			continue
		}
		w.turn(func(*engine.Engine) {})
	}
	if turns < each || pings < 10 {
		t.Errorf("%d turns, %d pings: that was no crowd", turns, pings)
	}
}

// joinTLS adds a TLS connection whose handshake is over and which no worker serves.
func (w *crowd) joinTLS() *edgeConn {
	w.t.Helper()
	slot, _ := w.join()
	c := &w.p.socks[slot]
	t := &edgeConn{id: c.id, g: w.p.edge}
	c.tls = t
	return t
}

// decrypted has a worker have something for the loop, a buffer of the loop's at a time.
func (w *crowd) decrypted(t *edgeConn, text string) {
	for len(text) > 0 {
		b := w.p.edge.block()
		b.n = copy(b.b[:crowdBuffer], text)
		text = text[b.n:]
		t.in = append(t.in, b)
		t.inBytes += b.n
	}
	w.p.edge.list(t, false)
}

// TLS connections are read from in the same order: who sends little is answered in the turn after, however many others send without
// pause, and all get round.
func TestTLSConnectionsWaitInTheSameOrder(t *testing.T) {
	w := newCrowd(t)
	const many, each = 30, 20
	quiet := w.joinTLS()
	answered := func() bool {
		var all []byte
		for _, b := range quiet.out {
			all = append(all, b.b[:b.n]...)
		}
		quiet.out, quiet.outBytes = nil, 0
		return bytes.HasSuffix(all, []byte("PONG\r\n"))
	}
	w.decrypted(quiet, hello)
	if w.turn(func(*engine.Engine) {}); !answered() {
		t.Fatal("no answer without others")
	}
	var loud []*edgeConn
	for range many {
		c := w.joinTLS()
		loud = append(loud, c)
		w.decrypted(c, hello+strings.Repeat("PUB a 0\r\n\r\n", each*crowdBuffer/11))
	}
	w.turn(func(*engine.Engine) {})
	more := func() bool { return slices.ContainsFunc(loud, func(c *edgeConn) bool { return len(c.in) > 0 }) }
	pings, turns := 0, 0
	for ; more(); turns++ {
		if turns > 100*each {
			t.Fatalf("not all was read in %d turns", turns)
		}
		if turns%3 == 0 {
			w.decrypted(quiet, "PING\r\n")
		}
		if w.turn(func(*engine.Engine) {}); turns%3 == 0 {
			if !answered() {
				t.Fatalf("PING %d was not answered in the next turn", pings)
			}
			pings++
		}
	}
	if turns < each || pings < 10 {
		t.Errorf("%d turns, %d pings: that was no crowd", turns, pings)
	}
}

// A newcomer waits behind those who have had their share of the round, and who has had it does too, until the next one.
func TestSharesOfARound(t *testing.T) {
	w := newCrowd(t)
	slot, peer := w.join()
	r := &w.p.ready
	r.left, r.round.slots = 1, []uint32{99} // somebody whose round it still is
	w.p.socks = append(w.p.socks, make([]sock, 100)...)
	at := func(l *line) bool { return len(l.slots) > 0 && l.slots[len(l.slots)-1] == slot }
	c := &w.p.socks[slot]
	if w.says(slot, peer, "x"); !at(&r.passing) {
		t.Error("a newcomer has no line of its own")
	}
	listed := func(had int, no uint32) bool {
		r.first.slots, r.round.slots, r.passing.slots, c.listed = nil, nil, nil, false
		c.known, c.had, c.round = true, uint32(had), no
		w.p.list(slot, c)
		return at(&r.first)
	}
	if !listed(crowdBuffer-1, r.no) || !listed(crowdBuffer, r.no-1) {
		t.Error("who has not had its share does not go first")
	}
	if listed(crowdBuffer, r.no) {
		t.Error("who has had its share goes first")
	}
	if c.short = true; listed(0, r.no) || !at(&r.passing) {
		t.Error("who goes has no line of its own")
	}
	if listed(crowdBuffer, r.no); c.had != crowdBuffer {
		t.Error("being listed counts")
	}
	if w.p.count(c, 1); c.had != crowdBuffer+readLeast {
		t.Errorf("a byte counts as %d", c.had-crowdBuffer)
	}
}

// Who comes in the place of somebody who was given up while it stood in a line has none there.
func TestNewcomerHasNoPlaceInLine(t *testing.T) {
	w := newCrowd(t)
	slot, peer := w.join()
	w.says(slot, peer, hello)
	r := &w.p.ready
	r.round.slots, r.passing.slots, r.left = append(r.round.slots, slot, 7), nil, 2
	w.p.unlist(slot)
	if !slices.Equal(r.round.slots, []uint32{7}) || r.left != 1 {
		t.Errorf("%v, %d left of the round", r.round.slots, r.left)
	}
}
