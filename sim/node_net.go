package sim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/schedule"
)

// A node is its engine's network, on top of its machine's, and is told by the machine what happens.

var _ engine.Network = (*node)(nil)
var _ netsim.Sink = (*node)(nil)

// nodeConn is what the node knows of a connection of its engine.
type nodeConn struct {
	id      engine.ConnID // zero: none
	conn    *netsim.Conn
	info    engine.ConnInfo
	name    string             // in the log
	client  *client            // who dialled
	dial    uint64             // which of the client's connections it is
	over    bool               // the engine has given it up, or is about to
	end     bool               // the engine was told that it ended
	handed  int64              // bytes that came on it and that the engine was given
	before  int64              // handed, but for what it is just being given
	reason  engine.CloseReason // why the engine has given it up
	mixed   bool               // has been, or is to be, written to for more than one reason since all was written
	full    fullWatch
	endedAt schedule.Time // when the engine was told that the peer sends no more; 0: it was not
}

// queuedRead marks a connection that waits in ready to be read from.
const queuedRead = 1

// ListenerUp implements netsim.Sink.
func (n *node) ListenerUp(l engine.ListenerID, addr string, port int) {
	n.addr = n.host.IP() + addr[lastColon(addr):]
	n.tell(ready{kind: readyUp, n: uint64(l)<<16 | uint64(port)})
}

func lastColon(s string) int {
	i := len(s) - 1
	for s[i] != ':' {
		i--
	}
	return i
}

// ListenerFailed implements netsim.Sink.
func (n *node) ListenerFailed(l engine.ListenerID, _ error) {
	n.tell(ready{kind: readyFailed, n: uint64(l)})
}

// Accepted implements netsim.Sink.
func (n *node) Accepted(c *netsim.Conn, l engine.ListenerID, info engine.ConnInfo) {
	n.infos = append(n.infos, info)
	n.tell(ready{kind: readyAccept, conn: c, n: uint64(l)})
}

// Connected implements netsim.Sink; a node dials nobody.
func (n *node) Connected(*netsim.Conn) {}

// DialFailed implements netsim.Sink; a node dials nobody.
func (n *node) DialFailed(*netsim.Conn, error) {}

// Readable implements netsim.Sink.
func (n *node) Readable(c *netsim.Conn) {
	if c.Tag&queuedRead == 0 {
		c.Tag |= queuedRead
		n.tell(ready{kind: readyRead, conn: c})
	}
}

// Writable implements netsim.Sink.
func (n *node) Writable(c *netsim.Conn) { n.tell(ready{kind: readyWrite, conn: c}) }

// Closed implements netsim.Sink.
func (n *node) Closed(c *netsim.Conn, err error) {
	n.tell(ready{kind: readyClosed, conn: c})
}

// slot returns what is known of the connection that is bound to id.
func (n *node) slot(id engine.ConnID) *nodeConn {
	if s := int(id.Slot()); s < len(n.conns) && n.conns[s].id == id {
		return &n.conns[s]
	}
	return nil
}

// admit has the engine accept those who have come, as far as it wants them now.
func (n *node) admit(come ...ready) {
	n.backlog = append(n.backlog, come...)
	for len(n.backlog) > 0 && n.eng.Admits() {
		r := n.backlog[0]
		n.backlog = n.backlog[:copy(n.backlog, n.backlog[1:])]
		n.accept(r.conn, engine.ListenerID(r.n))
	}
}

// accept tells the engine of a connection.
func (n *node) accept(c *netsim.Conn, l engine.ListenerID) {
	info := n.infos[0]
	n.infos = n.infos[:copy(n.infos, n.infos[1:])]
	n.w.trace.said(n.index, EventAccepted, 0, int64(info.Port), info.IP)
	nc := nodeConn{conn: c, info: info}
	nc.client, nc.dial = n.w.dialler(c.Key())
	n.accepting(nc)
	id := n.eng.Accepted(l, info)
	if id == 0 {
		n.turnedAway()
		c.Close()
		return
	}
	for int(id.Slot()) >= len(n.conns) {
		n.conns = append(n.conns, nodeConn{})
	}
	nc.id = id
	n.accepted(&nc)
	n.conns[id.Slot()] = nc
	c.Bind(id)
	if c.Unread() > 0 && c.Tag&queuedRead == 0 { // told before it had a name
		n.Readable(c)
	}
}

// read hands over what arrived on c, within the budget of a turn.
func (n *node) read(c *netsim.Conn) {
	c.Tag &^= queuedRead
	id := c.ID()
	if c.Paused() || n.host.Conn(id) != c {
		return
	}
	buf := n.w.scratch[:n.w.cfg.budget]
	got, eof := c.Read(buf)
	if got > 0 {
		n.cost += int64(got)
		n.w.trace.data(n.index, EventReceived, id, buf[:got])
		if nc := n.slot(id); nc != nil {
			nc.handed += int64(got)
		}
		n.eng.Received(id, buf[:got])
		if nc := n.slot(id); nc != nil {
			nc.before = nc.handed
		}
	}
	if eof {
		if nc := n.slot(id); nc != nil {
			nc.end, nc.endedAt, nc.mixed = true, n.w.queue.Now(), true
		}
		n.effect(EventEOF, id, 0)
		n.eng.EOF(id)
		return
	}
	if got == len(buf) {
		n.Readable(c)
	}
}

// closed tells the engine that c broke, if it still knows c.
func (n *node) closed(c *netsim.Conn) {
	nc := n.slot(c.ID())
	if nc == nil || nc.conn != c {
		return
	}
	nc.end = true
	n.w.trace.event(n.index, EventClosed, nc.id, 0)
	id := nc.id
	n.eng.Closed(id, "connection reset by peer")
	n.forget(id)
}

// Listen implements engine.Network.
func (n *node) Listen(l engine.ListenerID, addr string) {
	n.w.engineEvents++
	n.w.trace.said(n.index, EffectListen, 0, int64(l), addr)
	n.host.Listen(l, addr)
}

// StopListening implements engine.Network.
func (n *node) StopListening(l engine.ListenerID) {
	n.effect(EffectStopListening, 0, int64(l))
	n.addr = ""
	n.host.StopListening(l)
}

// Send implements engine.Network.
func (n *node) Send(id engine.ConnID, bufs [][]byte) int {
	n.w.engineEvents++
	if !n.turnNow {
		n.w.fail(propContract, "Send outside a turn")
	}
	offered := 0
	for _, b := range bufs {
		offered += len(b)
	}
	switch id {
	case n.listener.id:
		return n.listenerSends(bufs)
	case n.service.id:
		return n.serviceSends(bufs)
	}
	if x, which := n.lender(id); x != nil {
		return n.lendSends(x, which, bufs)
	}
	if which := n.archiveLocal(id); which >= 0 {
		return n.archiveSends(which, bufs)
	}
	if which := n.memberOf(id); which >= 0 {
		return n.memberSends(which, bufs)
	}
	if which := n.askerOf(id); which >= 0 {
		return n.askerSends(which, bufs)
	}
	if which := n.granterOf(id); which >= 0 {
		return n.granterSends(which, bufs)
	}
	if nc := n.slot(id); nc != nil && offered > 0 {
		nc.decided(bufs)
	}
	n.judgeSend(id, offered)
	taken := n.host.Send(id, bufs)
	n.cost += int64(taken)
	n.w.trace.sent(n.index, id, bufs, offered, taken)
	n.watch.sent(n, id, offered, taken)
	n.turnWatch.wrote(id, taken)
	n.wroteOne(id, bufs, offered, taken)
	return taken
}

// PauseReading implements engine.Network.
func (n *node) PauseReading(id engine.ConnID) {
	n.effect(EffectPauseReading, id, 0)
	if n.local(id) {
		return
	}
	n.lastPause, _ = n.Now()
	n.heldBack(id, true)
	n.host.PauseReading(id)
}

// ResumeReading implements engine.Network.
func (n *node) ResumeReading(id engine.ConnID) {
	n.effect(EffectResumeReading, id, 0)
	if n.local(id) {
		return
	}
	n.heldBack(id, false)
	n.host.ResumeReading(id)
}

// CloseWrite implements engine.Network.
func (n *node) CloseWrite(id engine.ConnID) {
	n.effect(EffectCloseWrite, id, 0)
	if n.local(id) {
		return
	}
	n.host.CloseWrite(id)
}

// Close implements engine.Network.
func (n *node) Close(id engine.ConnID) {
	n.effect(EffectClose, id, 0)
	switch id {
	case n.listener.id:
		n.listener = listener{}
		return
	case n.service.id:
		n.serviceGone()
		return
	}
	if x, _ := n.lender(id); x != nil {
		*x = lendingLocal{local: local{name: x.name}}
		return
	}
	if which := n.archiveLocal(id); which >= 0 {
		n.archiveClosed(which)
		return
	}
	if which := n.memberOf(id); which >= 0 {
		n.memberClosed(which)
		return
	}
	if which := n.askerOf(id); which >= 0 {
		n.askers[which] = asker{local: local{name: n.askers[which].name}}
		return
	}
	if which := n.granterOf(id); which >= 0 {
		n.granters[which] = granter{local: local{name: n.granters[which].name}}
		return
	}
	if n.slot(id) == nil && n.newest.conn != nil {
		return // while it is being accepted: it has no name yet
	}
	n.farewell(id)
	n.host.Close(id)
	n.forget(id)
}

// forget is the end of a connection for the engine.
func (n *node) forget(id engine.ConnID) {
	nc := n.slot(id)
	if nc == nil {
		n.w.fail(propContract, "the engine closed a connection that it does not have")
		return
	}
	n.watch.closed(n, nc)
	if nc.client != nil {
		nc.client.goneAtServer(n, nc.dial)
	}
	*nc = nodeConn{}
}
