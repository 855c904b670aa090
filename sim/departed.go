package sim

import "github.com/natsd/natsd/sim/oracle"

// departed are connections that the server has given up while messages were still being delivered over several turns,
// theirs perhaps among them: the oracle is told when none is.
type departed []*oracle.Conn

// left tells the oracle that the server has given up a connection, as soon as that is true of its last message too.
func (n *node) left(o *oracle.Conn) {
	if n.eng != nil && n.eng.Footprint().Fanouts > 0 {
		n.departed = append(n.departed, o)
		return
	}
	n.oracle.Gone(o)
}

// tellDeparted follows each turn.
func (n *node) tellDeparted() {
	n.checkDucked()
	if len(n.departed) == 0 || n.eng.Footprint().Fanouts > 0 {
		return
	}
	for i, o := range n.departed {
		n.oracle.Gone(o)
		n.departed[i] = nil
	}
	n.departed = n.departed[:0]
}
