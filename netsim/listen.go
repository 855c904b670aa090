package netsim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// listener is a port that a host listens on. Its one event tells the sink of it.
type listener struct {
	host   *Host
	id     engine.ListenerID
	addr   string
	port   int
	local  bool // only the host itself can dial it
	err    error
	closed bool
}

// Listen implements engine.Network. The host part may be empty, 0.0.0.0, ::, the host's own address, or
// 127.0.0.1, ::1 or localhost, which only the host itself can dial.
func (h *Host) Listen(id engine.ListenerID, addr string) {
	l := &listener{host: h, id: id}
	name, port, ok := splitAddr(addr)
	switch {
	case !ok || !isAny(name) && !isLoopback(name) && name != h.ip:
		l.err = ErrAddr
	case port > 0 && h.listenerOn(port) != nil:
		l.err = ErrAddrInUse
	default:
		if port <= 0 {
			port = h.anyPort()
		}
		l.port = port
		l.local = isLoopback(name)
		l.addr = joinAddr(name, port)
		h.listeners = append(h.listeners, l)
		h.net.listeners++
	}
	h.net.queue.After(0, l, h.lives)
}

// Fire tells the sink how Listen ended.
func (l *listener) Fire(_ schedule.Time, life uint64) {
	switch {
	case l.closed || l.host.lives != life: // given up, or asked for by a process that is gone
	case l.err != nil:
		l.host.sink.ListenerFailed(l.id, l.err)
	default:
		l.host.sink.ListenerUp(l.id, l.addr, l.port)
	}
}

// StopListening implements engine.Network.
func (h *Host) StopListening(id engine.ListenerID) {
	for i, l := range h.listeners {
		if l.id == id {
			l.closed = true
			h.listeners = append(h.listeners[:i], h.listeners[i+1:]...)
			h.net.listeners--
			return
		}
	}
}

func (h *Host) stopAll() {
	for _, l := range h.listeners {
		l.closed = true
	}
	h.net.listeners -= len(h.listeners)
	h.listeners = h.listeners[:0]
}

func (h *Host) listenerOn(port int) *listener {
	for _, l := range h.listeners {
		if l.port == port {
			return l
		}
	}
	return nil
}

// anyPort is a port that nobody listens on, above those of dials.
func (h *Host) anyPort() int {
	const first, count = firstPort + defaultPorts, 1<<16 - firstPort - defaultPorts
	for {
		port := first + h.nextAny%count
		h.nextAny++
		if h.listenerOn(port) == nil {
			return port
		}
	}
}
