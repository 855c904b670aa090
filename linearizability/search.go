package linearizability

import (
	"math/bits"

	"github.com/anishathalye/porcupine"
)

// search is one partition as porcupine is to check it: a model around the model, which counts steps, keeps the order of
// Partition.After, and lets inert operations go first.
//
// The last is what makes histories with many operations at once cheap: if an operation can be carried out now, and
// leaves everything as it is, then every order that explains what was seen still does when that operation is moved here.
// Orders in which it waits need not be tried. Of several the first in the history goes first.
//
// porcupine sees indices in place of inputs. It checks the one partition in one goroutine, so a plain counter will do.
type search struct {
	of   Model
	part Partition
	left int // steps
}

// trial is a state of the search: the model's, and what was carried out to get there. The second is a function of what
// porcupine compares besides, so only the first has to be compared.
type trial struct {
	state any
	did   [PartitionMax / 64]uint64
	first int // the operation that goes next, -1: any
}

func newSearch(model Model, p Partition, budget int) *search {
	return &search{of: model, part: p, left: budget}
}

// judge checks one partition and returns how many steps that took.
func judge(model Model, p Partition, budget int) (porcupine.CheckResult, int) {
	s := newSearch(model, p, budget)
	ok := porcupine.CheckOperations(s.model(), s.operations())
	switch {
	case ok:
		return porcupine.Ok, budget - s.left
	case s.left == 0:
		return porcupine.Unknown, budget
	default:
		return porcupine.Illegal, budget - s.left
	}
}

// operations are the partition's, with indices as inputs.
func (s *search) operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(s.part.Ops))
	for i, op := range s.part.Ops {
		op.Input = i
		ops[i] = op
	}
	return ops
}

func (s *search) model() porcupine.Model {
	m := porcupine.Model{
		Init:  func() any { return s.try(s.of.Init(), [PartitionMax / 64]uint64{}) },
		Step:  s.step,
		Equal: func(a, b any) bool { return s.of.Equal(a.(*trial).state, b.(*trial).state) },
		DescribeOperation: func(input, output any) string {
			return s.of.describe(s.part.Ops[input.(int)])
		},
	}
	if s.of.Hash != nil {
		m.Hash = func(state any) uint64 { return s.of.Hash(state.(*trial).state) }
	}
	if s.of.DescribeState != nil {
		m.DescribeState = func(state any) string { return s.of.DescribeState(state.(*trial).state) }
	}
	return m
}

// step tries an operation. When the steps are used up it refuses everything, so that the search returns after a number
// of refusals that is at most the square of that of the operations.
func (s *search) step(state, input, output any) (bool, any) {
	t, i := state.(*trial), input.(int)
	if s.left == 0 || t.first >= 0 && t.first != i || !t.follows(s.part.After[i]) {
		return false, state
	}
	s.left--
	did := t.did
	did[i/64] |= 1 << (i % 64)
	if t.first == i {
		return true, s.try(t.state, did)
	}
	ok, next := s.of.Step(t.state, s.part.Ops[i].Input, output)
	if !ok {
		return false, state
	}
	return true, s.try(next, did)
}

// try is the state of the search in which that was done, and led there.
func (s *search) try(state any, did [PartitionMax / 64]uint64) *trial {
	t := &trial{state: state, did: did, first: -1}
	if s.of.Inert == nil {
		return t
	}
	end := Forever // what is called later is not at issue yet
	for i := range s.part.Ops {
		if !t.has(i) {
			end = min(end, Time(s.part.Ops[i].Return))
		}
	}
	for w, word := range did {
		for rest := ^word; rest != 0; rest &= rest - 1 {
			i := w*64 + bits.TrailingZeros64(rest)
			if i >= len(s.part.Ops) {
				return t
			}
			op := &s.part.Ops[i]
			if Time(op.Call) <= end && t.follows(s.part.After[i]) && s.of.Inert(state, op.Input, op.Output) {
				t.first = i
				return t
			}
		}
	}
	return t
}

func (t *trial) has(i int) bool { return t.did[i/64]>>(i%64)&1 != 0 }

// follows reports whether what follows the operation may be carried out.
func (t *trial) follows(after int) bool { return after < 0 || t.has(after) }
