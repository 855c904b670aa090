package linearizability

import (
	"math/bits"

	"github.com/anishathalye/porcupine"
)

// InterestModel is the interest in one subject at one server, for histories of Interest.
//
// The state says of each subscription ever made to the subject whether it was made and whether it is over. Live are those
// that were made and are not over.
//
//   - SUB makes its subscription live. On a connection that has ended it does nothing, and cannot be answered.
//   - UNSUB makes it over. It comes after the SUB unless the connection has ended before both.
//   - The end of a connection makes all its subscriptions over, those included that are still to be made.
//   - A probe changes nothing. Everyone who read it was live. Of those that were live when it was carried out, each plain
//     subscription read it, unless its connection may have lost it; of each queue group exactly one member did, or one
//     that may have lost it. Nobody read it twice, or after
//     a PONG that it should have come before. It was answered 503 if and only if nobody was live. A probe by a
//     connection without echo passes over the connection's own subscriptions.
func InterestModel() Model {
	return Model{Model: porcupine.Model{
		Partition: partitionInterest,
		Init:      func() any { return interestState{} },
		Step: func(state, input, output any) (bool, any) {
			s := state.(interestState)
			ok := s.step(input.(interestInput), output)
			return ok, s
		},
		Equal:             func(a, b any) bool { return a.(interestState) == b.(interestState) },
		Hash:              func(s any) uint64 { return s.(interestState).hash() },
		DescribeOperation: func(input, output any) string { return input.(interestInput).describe(output) },
		DescribeState:     func(s any) string { return s.(interestState).String() },
	}, Inert: func(state, input, output any) bool {
		s, in := state.(interestState), input.(interestInput)
		_, lost := output.(Lost)
		switch in.kind {
		case interestProbe:
			return lost || s.explains(in, output.(*reading))
		case interestEnd:
			return s.over&in.share.mask == in.share.mask
		default:
			return lost && s.over&in.bit != 0
		}
	}}
}

// interestKind is what an operation does.
type interestKind uint8

const (
	interestSub interestKind = iota
	interestUnsub
	interestEnd
	interestProbe
)

// interestInput is an operation.
type interestInput struct {
	kind   interestKind
	roster *roster
	share  *share // of the connection that does it
	bit    uint64 // SUB, UNSUB: the subscription
}

// done is the output of an operation that was answered, and had nothing to tell.
type done struct{}

// reading is the output of a probe.
type reading struct {
	got    uint64 // who read it
	twice  uint64 // who read it again
	missed uint64 // who certainly did not
	late   uint64 // who read it when it certainly had nothing left to read
	stray  bool   // somebody read it who has no subscription to the subject
	nobody answer // it was answered 503
}

type answer uint8

const (
	unsure answer = iota
	no
	yes
)

// interestState is the interest in a subject, by the bits of its roster.
type interestState struct {
	made, over uint64
	roster     *roster // for pictures; the same in all states but the first
}

func (s interestState) hash() uint64 {
	hi, lo := bits.Mul64(s.made^0x9e3779b97f4a7c15, s.over^0xe7037ed1a0b428db)
	return hi ^ lo
}

// String is how pictures show it.
func (s interestState) String() string {
	if s.roster == nil {
		return "{}"
	}
	return s.roster.names(s.made &^ s.over)
}

// step carries out an operation, if it could have had that outcome.
func (s *interestState) step(in interestInput, output any) bool {
	_, lost := output.(Lost)
	s.roster = in.roster
	switch in.kind {
	case interestSub:
		if s.over&in.bit != 0 {
			return lost
		}
		s.made |= in.bit
	case interestUnsub:
		if s.over&in.bit != 0 {
			return lost
		}
		if s.made&in.bit == 0 {
			return false
		}
		s.over |= in.bit
	case interestEnd:
		s.over |= in.share.mask
	case interestProbe:
		return lost || s.explains(in, output.(*reading))
	}
	return true
}

// explains reports whether a probe reads that in this state.
func (s *interestState) explains(in interestInput, r *reading) bool {
	live := s.made &^ s.over
	if !in.share.conn.echo {
		live &^= in.share.mask
	}
	if r.stray || r.twice|r.late != 0 || r.got&^live != 0 {
		return false
	}
	if r.nobody == yes && live != 0 || r.nobody == no && live == 0 {
		return false
	}
	if live&in.roster.plain&r.missed != 0 {
		return false
	}
	for _, g := range in.roster.groups {
		members := live & g.mask
		got := members & r.got
		if got&(got-1) != 0 {
			return false // two of them
		}
		if members != 0 && got == 0 && members&^r.missed == 0 {
			return false // none of them
		}
	}
	return true
}

func (in interestInput) describe(output any) string {
	conn := in.share.conn.name
	what := ""
	switch in.kind {
	case interestSub:
		what = "SUB " + in.roster.names(in.bit)
	case interestUnsub:
		what = "UNSUB " + in.roster.names(in.bit)
	case interestEnd:
		what = conn + " ends " + in.roster.names(in.share.mask)
	case interestProbe:
		what = conn + " probes"
		if r, ok := output.(*reading); ok {
			return what + " -> " + in.roster.reading(r)
		}
	}
	if _, lost := output.(Lost); lost {
		what += " -> ?"
	}
	return what
}

func (l *roster) reading(r *reading) string {
	text := "read by " + l.names(r.got)
	if r.twice != 0 {
		text += ", twice by " + l.names(r.twice)
	}
	if r.late != 0 {
		text += ", too late by " + l.names(r.late)
	}
	if r.stray {
		text += ", by a stranger"
	}
	if r.missed != 0 {
		text += ", not by " + l.names(r.missed)
	}
	return text + [...]string{unsure: "", no: ", no 503", yes: ", 503"}[r.nobody]
}

// partitionInterest parts a history by subject, for those who give porcupine a history as a whole.
func partitionInterest(ops []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	at := make(map[*roster]int)
	for _, op := range ops {
		l := op.Input.(interestInput).roster
		i, known := at[l]
		if !known {
			i = len(parts)
			at[l] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], op)
	}
	return parts
}
