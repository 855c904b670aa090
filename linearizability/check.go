package linearizability

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Model is what an object is.
type Model struct {
	// Model is porcupine's: Init, Step and Equal are needed, Hash and the descriptions are good to have. Step must accept
	// Lost as the output of every operation that may be recorded without outcome.
	porcupine.Model
	// Inert reports whether the operation can have had that outcome in that state, and leaves this state and every later
	// one as it is, so that nothing is lost by carrying it out at once. May be nil: nothing is known to be inert. A model
	// that tells it of reads, and of operations that can no longer have an effect, is checked much faster.
	Inert func(state, input, output any) bool
}

// Verdict is what Check found.
type Verdict struct {
	Result porcupine.CheckResult // Ok; or that of the first partition that is not
	Steps  int                   // of the model, that were tried
	// Bad is the first partition that is not Ok, as it was recorded. Empty if all are.
	Bad Partition
	// Prefix is the shortest prefix of Bad that is not linearizable either, of those that end when an operation with a
	// known outcome returns; Culprit is that operation. Only where Result is Illegal.
	Prefix  Partition
	Culprit porcupine.Operation
	budget  int
	model   Model
}

// Check judges each partition by the model, whose own partitioning is not used, and stops at the first that is not
// linearizable or that takes more than budget steps of the model: Unknown. The budget counts steps and not time, so the
// verdict is a function of the arguments.
func Check(model Model, h History, budget int) Verdict {
	if budget <= 0 {
		panic("linearizability: a check without a budget")
	}
	v := Verdict{Result: porcupine.Ok, budget: budget, model: model}
	for _, p := range h {
		result, steps := judge(model, p, budget)
		v.Steps += steps
		if result != porcupine.Ok {
			v.Result, v.Bad = result, p
			break
		}
	}
	if v.Result == porcupine.Illegal {
		v.shorten()
	}
	return v
}

// Err is nil if all is well, else it says what is wrong. Unknown is an error too: a check that did not end has shown
// nothing.
func (v Verdict) Err() error {
	switch v.Result {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		return fmt.Errorf("%q is not linearizable: no order explains its first %d operations once %s has returned at %d ns",
			v.Bad.Key, len(v.Prefix.Ops), v.model.describe(v.Culprit), v.Culprit.Return)
	default:
		return fmt.Errorf("%q is not decided within %d steps for its %d operations: record fewer operations, clients or losses for each partition",
			v.Bad.Key, v.budget, len(v.Bad.Ops))
	}
}

// describe says in words what an operation did.
func (m *Model) describe(op porcupine.Operation) string {
	if m.DescribeOperation == nil {
		return fmt.Sprint(op.Input, " -> ", op.Output)
	}
	return m.DescribeOperation(op.Input, op.Output)
}

// shorten finds the shortest prefix that is not linearizable. A prefix of a linearizable history is one too, so half of
// what is left can be ruled out at a time.
func (v *Verdict) shorten() {
	ends := make([]porcupine.Operation, 0, len(v.Bad.Ops))
	for _, op := range v.Bad.Ops {
		if _, lost := op.Output.(Lost); !lost {
			ends = append(ends, op)
		}
	}
	slices.SortStableFunc(ends, func(a, b porcupine.Operation) int { return int(min(max(a.Return-b.Return, -1), 1)) })
	v.Prefix = v.Bad
	low, high := 0, len(ends) // the prefix that ends with ends[high] is known to be illegal; beyond the last one: all of it
	for low < high {
		mid := (low + high) / 2
		p := cut(v.Bad, Time(ends[mid].Return))
		result, steps := judge(v.model, p, v.budget)
		v.Steps += steps
		if result == porcupine.Illegal {
			v.Prefix, high = p, mid
		} else {
			low = mid + 1
		}
	}
	if len(ends) > 0 {
		v.Culprit = ends[min(high, len(ends)-1)]
	}
}

// cut is the prefix of a partition up to a moment. Of what had not returned then nothing is known, and what comes after
// an operation that was called later is not part of it.
func cut(p Partition, at Time) Partition {
	keep := make([]bool, len(p.Ops))
	for i, op := range p.Ops {
		keep[i] = Time(op.Call) <= at
	}
	for changed := true; changed; {
		changed = false
		for i, after := range p.After {
			if keep[i] && after >= 0 && !keep[after] && Time(p.Ops[i].Return) > at {
				keep[i], changed = false, true
			}
		}
	}
	prefix := Partition{Key: p.Key, Cut: true}
	place := make([]int, len(p.Ops))
	for i, op := range p.Ops {
		place[i] = len(prefix.Ops)
		if !keep[i] {
			continue
		}
		if Time(op.Return) > at {
			op.Return, op.Output = int64(Forever), Lost{}
		}
		prefix.Ops = append(prefix.Ops, op)
	}
	for i, after := range p.After {
		switch {
		case !keep[i]:
		case after < 0 || !keep[after]:
			prefix.After = append(prefix.After, -1)
		default:
			prefix.After = append(prefix.After, place[after])
		}
	}
	return prefix
}
