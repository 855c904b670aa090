package linearizability

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/schedule"
)

// client subscribes, unsubscribes and probes, and tells the history what it does and sees. In each slot of time it does
// one thing, chosen for that slot.
type client struct {
	w     *world
	index int
	host  *netsim.Host
	conn  *netsim.Conn // nil: none
	told  Conn         // zero: it has not sent CONNECT
	dials uint64
	slots uint64

	in      []byte
	out     []byte
	subs    []Sub // by sid, less one
	left    int   // of subs, those before it are unsubscribed
	unasked int   // PONGs not read yet
	asked   schedule.Time
	deaf    bool // does not read
	echo    bool
}

const clientSlot, clientHear = 0, 1

// What a client does in a slot.
const (
	doNothing = iota
	doSubscribe
	doQueue
	doWildcard
	doUnsubscribe
	doProbe
	doClose
	doAbort
	doDeaf
	numDoings
)

func newClient(w *world, index int) *client {
	c := &client{w: w, index: index}
	c.host = w.net.AddHost(index, c)
	w.queue.After(schedule.Time(w.number(purposePhase, uint64(index), 0, int64(w.slot))), c, clientSlot)
	return c
}

func (c *client) key(n uint64) uint64 { return uint64(c.index)<<32 | n }

// Fire is one of the client's slots, or the end of its deafness.
func (c *client) Fire(now schedule.Time, arg uint64) {
	if arg == clientHear {
		c.deaf = false
		c.hear()
		return
	}
	c.slots++
	c.w.queue.After(c.w.slot, c, clientSlot)
	switch {
	case c.conn == nil:
		c.dials++
		c.conn = c.host.Dial("10.0.0.1:4222")
		c.asked = now
	case c.told == 0 || c.unasked > 0:
		if now-c.asked > c.w.patience {
			c.drop() // whatever it was waiting for may still happen
			return
		}
	}
	if c.told != 0 {
		c.act(now)
	}
}

func (c *client) act(now schedule.Time) {
	w := c.w
	if c.unasked >= 8 {
		return // more at once would show nothing more, but take the checker longer
	}
	n := c.key(c.slots)
	what := w.pick(purposeAct, n, w.doings[:])
	if w.ending() {
		what = doProbe
	}
	subject := w.subjects(now)[w.number(purposeSubject, n, 0, 1)]
	switch what {
	case doSubscribe:
		c.subscribe("", subject, subject)
	case doQueue:
		c.subscribe([]string{"g", "h"}[w.number(purposeQueue, n, 0, 1)], subject, subject)
	case doWildcard:
		queue := []string{"", "g"}[w.number(purposeQueue, n, 0, 1)]
		first, last := subject[:strings.IndexByte(subject, '.')], subject[strings.LastIndexByte(subject, '.'):]
		both := w.subjects(now)
		switch w.number(purposePattern, n, 0, 2) {
		case 0:
			c.subscribe(queue, first+".x.*", both[:]...)
		case 1:
			c.subscribe(queue, first+".>", both[:]...)
		case 2:
			c.subscribe(queue, first+".*"+last, subject)
		}
	case doUnsubscribe:
		if c.left == len(c.subs) {
			return
		}
		c.left++
		w.hist.Unsubscribe(w.now(), c.subs[c.left-1])
		c.sayf("UNSUB %d\r\n", c.left)
	case doProbe:
		p := w.hist.Probe(w.now(), c.told, subject)
		id := strconv.Itoa(int(p))
		c.sayf("PUB %s _R.%d.%s %d\r\n%s\r\n", subject, c.index, id, len(id), id)
		w.seen.probes++
	case doClose:
		c.conn.Close()
		c.forget()
	case doAbort:
		c.conn.Abort()
		c.forget()
	case doDeaf:
		if !c.deaf {
			c.deaf = true
			w.queue.After(schedule.Time(w.number(purposeDeaf, n, 0, 800e6)), c, clientHear)
		}
	}
	// Several operations may share a PING.
	if c.conn != nil && what != doNothing && w.number(purposeFence, n, 0, 3) > 0 || w.ending() {
		c.fence(now)
	}
	c.flush()
}

func (c *client) subscribe(queue, pattern string, subjects ...string) {
	c.subs = append(c.subs, c.w.hist.Subscribe(c.w.now(), c.told, queue, subjects...))
	c.sayf("SUB %s %s %d\r\n", pattern, queue, len(c.subs))
}

func (c *client) fence(now schedule.Time) {
	if c.unasked == 0 {
		c.asked = now
	}
	c.unasked++
	c.w.hist.Ping(c.w.now(), c.told)
	c.sayf("PING\r\n")
}

func (c *client) sayf(format string, args ...any) { c.out = fmt.Appendf(c.out, format, args...) }

func (c *client) flush() {
	if c.conn != nil {
		c.out = c.out[c.conn.Send([][]byte{c.out}):]
	}
}

// drop closes the connection without waiting for anything.
func (c *client) drop() {
	c.conn.Close()
	c.forget()
	c.w.seen.givenUp++
}

// forget makes it dial again.
func (c *client) forget() {
	c.conn, c.told, c.in, c.out, c.subs, c.left, c.unasked = nil, 0, nil, nil, nil, 0, 0
}

func (c *client) hear() {
	var buf [512]byte
	for c.conn != nil && !c.deaf {
		n, eof := c.conn.Read(buf[:])
		c.in = append(c.in, buf[:n]...)
		c.parse()
		if eof && c.conn != nil {
			c.conn.Close()
			c.forget()
			c.w.seen.ends++
		}
		if n < len(buf) {
			return
		}
	}
}

func (c *client) parse() {
	for c.conn != nil {
		line, rest, whole := bytes.Cut(c.in, []byte("\r\n"))
		if !whole {
			return
		}
		words := strings.Fields(string(line))
		switch words[0] {
		case "INFO":
			c.in = rest
			c.greeted()
			continue
		case "PING":
			c.sayf("PONG\r\n")
			c.flush()
		case "PONG":
			c.unasked--
			c.asked = c.w.queue.Now()
			c.w.hist.Pong(c.w.now(), c.told)
			c.w.seen.pongs++
		case "MSG", "HMSG":
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil {
				c.w.fatalf("client %d read %q", c.index, line)
			}
			if len(rest) < size+2 {
				return
			}
			c.message(words, string(rest[:size]))
			rest = rest[size+2:]
		case "-ERR":
			if string(line) != "-ERR 'Stale Connection'" { // the end follows
				c.w.fatalf("client %d read %q", c.index, line)
			}
		default:
			c.w.fatalf("client %d read %q", c.index, line)
		}
		c.in = rest
	}
}

// greeted answers INFO, the first one; a later one means nothing.
func (c *client) greeted() {
	if c.told != 0 {
		return
	}
	w := c.w
	c.echo = w.number(purposeEcho, c.key(c.dials), 0, 3) > 0
	c.told = w.connected(c)
	c.sayf("CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true,\"protocol\":1,\"echo\":%v}\r\nSUB _R.%d.* i\r\n", c.echo, c.index)
	c.fence(w.queue.Now())
	c.flush()
}

func (c *client) message(words []string, payload string) {
	w := c.w
	if words[0] == "HMSG" {
		if !strings.HasPrefix(payload, "NATS/1.0 503\r\n") || words[2] != "i" {
			w.fatalf("client %d read %q %q", c.index, words, payload)
		}
		id, err := strconv.Atoi(words[1][strings.LastIndexByte(words[1], '.')+1:])
		if err != nil {
			w.fatalf("%v", err)
		}
		w.hist.Nobody(w.now(), Probe(id))
		w.seen.nobody++
		return
	}
	sid, err := strconv.Atoi(words[2])
	id, err2 := strconv.Atoi(payload)
	if err != nil || err2 != nil || sid > len(c.subs) {
		w.fatalf("client %d read %q %q", c.index, words, payload)
	}
	w.hist.Delivered(w.now(), Probe(id), c.subs[sid-1])
	w.seen.deliveries++
}

// What the machine tells.

func (c *client) Connected(conn *netsim.Conn)                               {}
func (c *client) Accepted(*netsim.Conn, engine.ListenerID, engine.ConnInfo) {}
func (c *client) ListenerUp(engine.ListenerID, string, int)                 {}
func (c *client) ListenerFailed(engine.ListenerID, error)                   {}
func (c *client) DialFailed(conn *netsim.Conn, err error)                   { c.broke(conn) }
func (c *client) Closed(conn *netsim.Conn, err error)                       { c.broke(conn) }
func (c *client) Readable(conn *netsim.Conn) {
	if conn == c.conn {
		c.hear()
	}
}
func (c *client) Writable(conn *netsim.Conn) {
	if conn == c.conn {
		c.flush()
	}
}

func (c *client) broke(conn *netsim.Conn) {
	if conn == c.conn {
		c.forget()
		c.w.seen.breaks++
	}
}
