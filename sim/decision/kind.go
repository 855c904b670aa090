package decision

// Kind names what is chosen. Kinds are written to logs by name, so their numbers may change but their names may not.
type Kind uint16

// Group says how the shrinker treats a kind: faults go first, then operations, then clients, then numbers.
type Group uint8

// Groups of kinds.
const (
	GroupConfig    Group = iota // the configuration of the run
	GroupFault                  // something going wrong
	GroupOperation              // something a client does
	GroupActor                  // whether a client or node exists at all
	GroupNumber                 // delays, sizes, cuts
)

// The kinds. Whoever adds a choice adds its kind here and its row below.
const (
	None Kind = iota

	// netsim
	NetLatency    // extra delay of one segment, ns
	NetSegment    // where a segment is cut, bytes
	NetStall      // a link stops moving for a while
	NetReset      // a connection is reset
	NetHalfOpen   // a peer vanishes without a word
	NetRefuse     // a dial is refused
	NetDialHang   // a dial is never answered
	NetRetransmit // how long after a partition a stream moves again, ns

	numKinds
)

// row describes one kind.
type row struct {
	name  string
	group Group
}

var table = [numKinds]row{
	None:          {"none", GroupNumber},
	NetLatency:    {"net.latency", GroupNumber},
	NetSegment:    {"net.segment", GroupNumber},
	NetStall:      {"net.stall", GroupFault},
	NetReset:      {"net.reset", GroupFault},
	NetHalfOpen:   {"net.halfopen", GroupFault},
	NetRefuse:     {"net.refuse", GroupFault},
	NetDialHang:   {"net.dialhang", GroupFault},
	NetRetransmit: {"net.retransmit", GroupNumber},
}

// String is the kind's name in logs.
func (k Kind) String() string {
	if k >= numKinds {
		return "unknown"
	}
	return table[k].name
}

// Group says how the shrinker treats the kind.
func (k Kind) Group() Group {
	if k >= numKinds {
		return GroupNumber
	}
	return table[k].group
}
