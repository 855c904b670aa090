package sim

import (
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
)

// crowd dials many times from one machine and never closes.
type crowd struct{ connected, readable, closed int }

func (c *crowd) ListenerUp(engine.ListenerID, string, int)                 {}
func (c *crowd) ListenerFailed(engine.ListenerID, error)                   {}
func (c *crowd) Accepted(*netsim.Conn, engine.ListenerID, engine.ConnInfo) {}
func (c *crowd) Connected(*netsim.Conn)                                    { c.connected++ }
func (c *crowd) DialFailed(*netsim.Conn, error)                            {}
func (c *crowd) Writable(*netsim.Conn)                                     {}
func (c *crowd) Closed(*netsim.Conn, error)                                { c.closed++ }
func (c *crowd) Readable(conn *netsim.Conn) {
	var b [4096]byte
	if n, eof := conn.Read(b[:]); n > 0 {
		c.readable++
	} else if eof {
		c.closed++
	}
}

// So many come at once that the engine does not even tell the last of them that there are too many: those are closed by
// the host, and nothing is left of them.
func TestConnectionsThatTheEngineDoesNotWant(t *testing.T) {
	const most, dials = 3, 1200
	w := newWorld(Options{}, decision.FromLog(nil))
	w.cfg.engine.MaxConnections = most
	sink := &crowd{}
	host := w.net.AddHost(clientHosts+len(w.clients), sink)
	w.nodes[0].boot(0)
	w.until(second / 10)
	for range dials {
		host.Dial(serverAddress)
	}
	w.until(second)
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	silent := sink.connected - sink.readable
	if sink.connected != dials || silent < 100 || sink.closed < silent {
		t.Errorf("%d are connected, %d of them were told something, %d were closed", sink.connected, sink.readable, sink.closed)
	}
	if n := w.nodes[0]; n.active != most {
		t.Errorf("%d connections count", n.active)
	}
	host.PowerOff()
	if !w.within(w.departure(), w.empty) {
		w.checkLeft(w.nodes[0])
	}
	if w.failure != nil {
		t.Error(w.failure)
	}
}
