package sublist

import (
	"slices"
	"strings"
)

// order sorts the queue groups of a Search by their names, in pieces: first runs of as many as are sorted at once, then the runs are
// merged in pairs, over and over, until there is one.
type order[T comparable] struct {
	sorted int        // groups that lie in first runs
	run    int        // how many a run has, but for the last one; 0: there are not all of them
	to     []Group[T] // what has been merged, from the first run on; as long again as the list when all runs have been
	first  int        // of the pair that is being merged, how many came from its first run
}

// sortedMost is how many queue groups are sorted at once.
const sortedMost = 1024

// What sorting takes of each group, in steps: a name may lie anywhere.
const (
	sortSteps  = 8
	mergeSteps = 4
)

// goOn sorts list further until so many steps are taken, or all is done, and a little in any case. It returns the list, which may lie
// elsewhere now.
func (o *order[T]) goOn(list []Group[T], most uint64) (out []Group[T], steps uint64, done bool) {
	for o.run == 0 {
		end := min(o.sorted+sortedMost, len(list))
		slices.SortFunc(list[o.sorted:end], func(a, b Group[T]) int { return strings.Compare(a.Name, b.Name) })
		steps += uint64(sortSteps * (end - o.sorted))
		if o.sorted = end; end == len(list) {
			o.run = sortedMost
		} else if steps >= most {
			return list, steps, false
		}
	}
	for o.run < len(list) {
		if o.to == nil {
			o.to = make([]Group[T], 0, len(list))
		}
		for len(o.to) < len(list) {
			if steps >= most {
				return list, steps, false
			}
			o.merge(list)
			steps += mergeSteps
		}
		list, o.to, o.run = o.to, list[:0], 2*o.run
	}
	return list, steps, true
}

// merge takes over the next group of the pair of runs that is being merged.
func (o *order[T]) merge(list []Group[T]) {
	at := len(o.to) % (2 * o.run)
	if at == 0 {
		o.first = 0
	}
	start := len(o.to) - at
	middle, end := min(start+o.run, len(list)), min(start+2*o.run, len(list))
	i, j := start+o.first, middle+at-o.first
	if j >= end || i < middle && list[i].Name < list[j].Name {
		o.to = append(o.to, list[i])
		o.first++
		return
	}
	o.to = append(o.to, list[j])
}
