package sublist

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hunt is a Search under way.
type hunt struct {
	subject string
	q       *Search[int]
	must    map[modelSub]bool // there since the start
	may     map[modelSub]bool // there at some time
	changed bool
}

func (q *hunt) come(s modelSub) {
	if naiveMatch(q.subject, s.subject) {
		q.may[s] = true
		q.changed = true
	}
}

func (x *machine) hunt(t *rapid.T) {
	q := &hunt{subject: drawSubject(t, false), must: map[modelSub]bool{}, may: map[modelSub]bool{}}
	subj := []byte(q.subject)
	if r := x.s.MatchWithin(subj, 0); r != nil && !x.s.Match(subj).same(r) {
		t.Fatalf("within no steps %q reaches %v", subj, r)
	}
	q.q = x.s.Search(subj)
	clear(subj) // it was only borrowed
	for _, s := range x.m.subs {
		q.come(s)
		q.must[s] = q.may[s]
	}
	q.changed = false
	x.hunts = append(x.hunts, q)
}

func (x *machine) huntOn(t *rapid.T) {
	if len(x.hunts) == 0 {
		t.Skip("no search")
	}
	i := rapid.IntRange(0, len(x.hunts)-1).Draw(t, "which")
	q := x.hunts[i]
	most := rapid.SampledFrom([]uint64{0, 1, 2, 10, 40, 10000}).Draw(t, "steps")
	r := x.s.Continue(q.q, most)
	if r == nil {
		return
	}
	x.hunts = slices.Delete(x.hunts, i, i+1)
	seen := map[int]bool{}
	found := func(queue string, v int) {
		if seen[v] {
			t.Fatalf("found %d twice for %q", v, q.subject)
		}
		seen[v] = true
		at := slices.IndexFunc(keys(q.may), func(s modelSub) bool { return s.value == v && s.queue == queue })
		if at < 0 {
			t.Fatalf("found %d in the group %q, which %q does not reach", v, queue, q.subject)
		}
	}
	for _, v := range r.Plain {
		found("", v)
	}
	for _, g := range r.Queues {
		for _, v := range g.Members {
			found(g.Name, v)
		}
	}
	for s, still := range q.must { //natsd:orderfree any one missing fails
		if still && !seen[s.value] {
			t.Fatalf("the search for %q ended without %d (%s)", q.subject, s.value, s.subject)
		}
	}
	plain, queues := x.m.match(q.subject)
	same := slices.Equal(r.Plain, plain) && sameGroups(r.Queues, queues)
	if !q.changed && !same || r.Valid() && !same {
		t.Fatalf("the search for %q found %v %v (valid %v), want %v %v", q.subject, r.Plain, r.Queues, r.Valid(), plain, queues)
	}
	if r.Valid() {
		x.held = append(x.held, &held{subject: q.subject, result: r, plain: plain, queues: queues})
	}
}

func keys(m map[modelSub]bool) (all []modelSub) {
	for s := range m { //natsd:orderfree somebody looks for one of them
		all = append(all, s)
	}
	return all
}

// A piece looks at no more than it may, however many patterns there are.
func TestSearchesAreBounded(t *testing.T) {
	s := New[int](Options{CacheSize: 10})
	const depth = 10
	for i := range 1 << depth {
		pattern := ""
		for k := range depth {
			pattern += [...]string{"a.", "*."}[i>>k&1]
		}
		for _, end := range []string{"z", ">"} {
			if _, err := s.Insert([]byte(pattern+end), nil, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	for k := range 5000 {
		if _, err := s.Insert([]byte("a.a.>"), fmt.Appendf(nil, "q%d", k%50), k); err != nil {
			t.Fatal(err)
		}
	}
	subj := []byte("a.a.a.a.a.a.a.a.a.a.y")
	whole := s.Match(subj)
	s.Forget()
	const most = 500
	before := s.Steps()
	if s.MatchWithin(subj, most) != nil {
		t.Fatal("a large match within few steps")
	}
	if steps := s.Steps() - before; steps > 2*most {
		t.Errorf("a match within %d steps took %d", most, steps)
	}
	q := s.Search(subj)
	var r *Result[int]
	pieces := 0
	for ; r == nil; pieces++ {
		before := s.Steps()
		r = s.Continue(q, most)
		if steps := s.Steps() - before; steps > most+2*depth*coldSteps {
			t.Fatalf("a piece of %d steps took %d", most, steps)
		}
	}
	if !r.same(whole) || !r.Valid() || pieces < 10 {
		t.Errorf("%d pieces, found %d of %d", pieces, r.Fanout(), whole.Fanout())
	}
	if s.MatchWithin(subj, 0) != r {
		t.Error("the result is not remembered")
	}
	if s.Continue(s.Search([]byte("a..a")), most) == nil {
		t.Error("a subject with an empty token is searched for")
	}
}

// The gaps that removals leave in a list cost who has it shown.
func TestGapsCost(t *testing.T) {
	s := New[int](Options{CacheSize: 10})
	var first Handle[int]
	const members = 10000
	for i := range members {
		h, err := s.Insert([]byte("a"), []byte("q"), i)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = h
		}
	}
	s.Match([]byte("a"))
	s.Remove(first)
	before := s.Steps()
	if r := s.MatchWithin([]byte("a"), members/compacted/buildsMost-1); r != nil {
		t.Error("a list is made anew within no steps")
	}
	s.Match([]byte("a"))
	if steps := s.Steps() - before; steps < members/compacted {
		t.Errorf("%d steps", steps)
	}
}

// The way back to where a search goes on does not use up its pieces.
func TestSearchesBelowMuch(t *testing.T) {
	s := New[int](Options{})
	prefix := strings.Repeat("a.", 500)
	const depth = 8
	for i := range 1 << depth {
		pattern := prefix
		for k := range depth {
			pattern += [...]string{"a.", "*."}[i>>k&1]
		}
		if _, err := s.Insert([]byte(pattern+"z"), nil, i); err != nil {
			t.Fatal(err)
		}
	}
	q, before, pieces := s.Search([]byte(prefix+strings.Repeat("a.", depth)+"z")), s.Steps(), 1
	for s.Continue(q, 10) == nil {
		pieces++
	}
	if steps := s.Steps() - before; pieces < 3 || steps > 4*(2<<depth)*(coldSteps+foundSteps)+500*coldSteps {
		t.Errorf("%d steps in %d pieces", steps, pieces)
	}
}

// Very many queue groups are not sorted at once: each is found all the same, with all its members, and they are remembered.
func TestSearchOfManyGroups(t *testing.T) {
	s := New[int](Options{CacheSize: 10})
	for i := range 3 * sortedMost {
		group := fmt.Appendf(nil, "g%d", i%(sortedMost+1))
		if _, err := s.Insert([]byte([...]string{"a.b", "a.*", "a.>"}[i%3]), group, i); err != nil {
			t.Fatal(err)
		}
	}
	want := s.Match([]byte("a.b"))
	s.Forget()
	q := s.Search([]byte("a.b"))
	r := s.Continue(q, 100)
	for ; r == nil; r = s.Continue(q, 100) {
	}
	if len(want.Queues) != sortedMost+1 || !r.same(want) {
		t.Errorf("%d groups, want %d", len(r.Queues), len(want.Queues))
	}
	if !r.Valid() || s.Match([]byte("a.b")) != r {
		t.Error("it is not remembered")
	}
	if q.Found() != 3*sortedMost {
		t.Errorf("it holds %d", q.Found())
	}
}
