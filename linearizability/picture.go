package linearizability

import (
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Picture writes an HTML page that shows the partition and how far an order of its operations was found within the
// budget, with a lane for each client, and more than one where a client did several things at once. Notes are shown
// below: faults, say.
func Picture(w io.Writer, model Model, p Partition, budget int, notes []porcupine.Annotation) error {
	s := newSearch(model, p, budget)
	_, info := porcupine.CheckOperationsVerbose(s.model(), lanes(s.operations()), 0)
	info.AddAnnotations(notes)
	s.left = 1 << 30 // the page replays what was found
	if err := porcupine.Visualize(s.model(), info, w); err != nil {
		return fmt.Errorf("picture of %q: %w", p.Key, err)
	}
	return nil
}

// Picture writes the page for the partition that Check found to be wrong, the culprit marked.
func (v Verdict) Picture(w io.Writer, notes []porcupine.Annotation) error {
	if v.Result == porcupine.Illegal {
		notes = append(slices.Clone(notes), porcupine.Annotation{
			Tag: "verdict", Start: v.Culprit.Return, Description: "from here on no order explains what was seen",
			Details: v.model.describe(v.Culprit), BackgroundColor: "#f2b8b5",
		})
	}
	return Picture(w, v.model, v.Bad, v.budget, notes)
}

// lanes renumbers the clients such that operations of one number do not overlap: those of the first client come first.
func lanes(ops []porcupine.Operation) []porcupine.Operation {
	ops = slices.Clone(ops)
	byCall := make([]int, len(ops))
	for i := range byCall {
		byCall[i] = i
	}
	slices.SortStableFunc(byCall, func(a, b int) int {
		if d := ops[a].ClientId - ops[b].ClientId; d != 0 {
			return d
		}
		return int(min(max(ops[a].Call-ops[b].Call, -1), 1))
	})
	first, client := 0, -1
	var busy []int64 // until when each of the client's lanes is
	for _, i := range byCall {
		op := &ops[i]
		if op.ClientId != client {
			first += len(busy)
			client, busy = op.ClientId, busy[:0]
		}
		lane := slices.IndexFunc(busy, func(until int64) bool { return until < op.Call })
		if lane < 0 {
			lane = len(busy)
			busy = append(busy, 0)
		}
		busy[lane] = op.Return
		op.ClientId = first + lane
	}
	return ops
}
