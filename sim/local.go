package sim

import (
	"github.com/natsd/natsd/engine"
)

// local is somebody on the server's own machine: the listener in the system account, the service that decides who clients are, the
// two that share by tokens. There is no network between it and the server, and it takes everything at once.
type local struct {
	id    engine.ConnID // zero: it is not there
	name  string        // in the log
	in    []byte        // read, and not yet understood
	input parser
}

// connectLocal connects it, inside a turn, and has it say hello. Where the server turns it away, the property fails.
func (n *node) connectLocal(x *local, port int, property, turnedAway, hello string) bool {
	n.accepting(nodeConn{})
	id := n.eng.Accepted(1, engine.ConnInfo{IP: "127.0.0.1", Port: port})
	x.name, x.id = n.newest.name, id
	if n.newest = (nodeConn{}); id == 0 {
		n.w.fail(property, turnedAway)
		return false
	}
	n.eng.Received(id, []byte(hello))
	return true
}

// localEnds has it leave, if it is there.
func (n *node) localEnds(x *local) {
	if x.id != 0 {
		n.eng.EOF(x.id)
	}
}

// localPongs has it answer a PING, if it is there.
func (n *node) localPongs(x *local) {
	if x.id != 0 {
		n.eng.Received(x.id, []byte(pongLine))
	}
}

// localSends takes what the server sends to it, and hands over one thing after the other.
func (n *node) localSends(x *local, who string, bufs [][]byte, hears func(*inbound)) (taken int) {
	for _, b := range bufs {
		x.in = append(x.in, b...)
		taken += len(b)
	}
	n.w.trace.sent(n.index, x.id, bufs, taken, taken)
	data := x.in
	var in inbound
	for len(data) > 0 {
		left, ok, wrong := x.input.next(data, &in)
		if wrong != "" {
			n.w.fail(propProtocol, who+" read "+wrong)
			return taken
		}
		n.w.largest = max(n.w.largest, in.size) // delivered, though it may come in pieces
		if !ok {
			break
		}
		data = left
		hears(&in) // an error is followed by the end
	}
	x.in = x.in[:copy(x.in, data)]
	return taken
}

// localClosed is told of log lines about connections that are closed; it reports whether this one is about it.
func (n *node) localClosed(x *local, subject string) bool {
	if x.name == "" || subject != x.name {
		return false
	}
	x.name = ""
	n.active--
	return true
}

// local reports whether the connection is of somebody on the server's own machine, whom no network parts from it.
func (n *node) local(id engine.ConnID) bool {
	x, _ := n.lender(id)
	return x != nil || n.archiveLocal(id) >= 0 || n.memberOf(id) >= 0 || n.askerOf(id) >= 0 || n.granterOf(id) >= 0 ||
		id == n.listener.id || id == n.service.id
}

// locals counts those that are connected.
func (n *node) locals() (count int) {
	if n.listener.listens() {
		count++
	}
	if n.service.id != 0 {
		count++
	}
	if n.registrar.id != 0 {
		count++
	}
	for i := range n.probes {
		if n.probes[i].id != 0 {
			count++
		}
	}
	for i := range n.members {
		if n.members[i].id != 0 {
			count++
		}
	}
	for i := range n.askers {
		if n.askers[i].id != 0 {
			count++
		}
	}
	for i := range n.granters {
		if n.granters[i].id != 0 {
			count++
		}
	}
	for i := range n.lending.locals {
		if n.lending.locals[i].id != 0 {
			count++
		}
	}
	return count
}
