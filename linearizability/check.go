package linearizability

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Verdict is what Check found.
type Verdict struct {
	Result porcupine.CheckResult // Ok; or that of the first partition that is not
	Steps  int                   // of the model, that were tried
	// Bad is the first partition that is not Ok, as it was recorded. Empty if all are.
	Bad Partition
	// Prefix is the shortest prefix of Bad that is not linearizable either, found by cutting Bad at the return of one
	// operation after the other; Culprit is the one at whose return it is cut. Only where Result is Illegal.
	Prefix  Partition
	Culprit porcupine.Operation
	budget  int
	model   porcupine.Model
}

// Check judges each partition by the model, whose own partitioning is not used, and stops at the first that is not
// linearizable or that takes more than budget steps of the model: Unknown. The budget counts steps and not time, so the
// verdict is a function of the arguments.
func Check(model porcupine.Model, h History, budget int) Verdict {
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
			v.Bad.Key, len(v.Prefix.Ops), v.describe(v.Culprit), v.Culprit.Return)
	default:
		return fmt.Errorf("%q is not decided within %d steps for its %d operations: record fewer operations, clients or losses for each partition",
			v.Bad.Key, v.budget, len(v.Bad.Ops))
	}
}

func (v Verdict) describe(op porcupine.Operation) string {
	if v.model.DescribeOperation == nil {
		return fmt.Sprint(op.Input, " -> ", op.Output)
	}
	return v.model.DescribeOperation(op.Input, op.Output)
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
	low, high := 0, len(ends)-1 // the prefix that ends with ends[high] is known to be illegal
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
	if high >= 0 {
		v.Culprit = ends[high]
		v.Prefix = cut(v.Bad, Time(v.Culprit.Return))
	}
}

// cut is the prefix of a partition up to a moment: of what had not returned then, nothing is known.
func cut(p Partition, at Time) Partition {
	prefix := Partition{Key: p.Key, Cut: true}
	for _, op := range p.Ops {
		if Time(op.Call) > at {
			continue
		}
		if Time(op.Return) > at {
			op.Return, op.Output = int64(Forever), Lost{}
		}
		prefix.Ops = append(prefix.Ops, op)
	}
	return prefix
}

// judge checks one partition and returns how many steps that took.
func judge(model porcupine.Model, p Partition, budget int) (porcupine.CheckResult, int) {
	left := budget
	ok := porcupine.CheckOperations(limited(model, &left), p.Ops)
	switch {
	case ok:
		return porcupine.Ok, budget - left
	case left == 0:
		return porcupine.Unknown, budget
	default:
		return porcupine.Illegal, budget - left
	}
}

// limited is the model with a Step that refuses everything once the steps are used up, which makes the search return
// after a number of refusals that is at most the square of that of the operations. There is one partition, so one
// goroutine counts.
func limited(model porcupine.Model, left *int) porcupine.Model {
	step := model.Step
	model.Partition, model.PartitionEvent, model.StepContext = nil, nil, nil
	model.Step = func(state, input, output any) (bool, any) {
		if *left == 0 {
			return false, state
		}
		*left--
		return step(state, input, output)
	}
	return model
}
