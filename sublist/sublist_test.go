package sublist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// insert adds v and fails the test if that is refused.
func insert(t testing.TB, s *Sublist[int], subj, queue string, v int) Handle[int] {
	t.Helper()
	h, err := s.Insert([]byte(subj), []byte(queue), v)
	if err != nil {
		t.Fatalf("insert %q: %v", subj, err)
	}
	return h
}

func TestInsertRefusesInvalidSubjects(t *testing.T) {
	s := New[int](Options{})
	for _, subj := range []string{"", ".", "a..b", "a.", ".a", "a.>.b", "a b", ">.a"} {
		if _, err := s.Insert([]byte(subj), nil, 1); !errors.Is(err, ErrInvalidSubject) {
			t.Errorf("%q: %v", subj, err)
		}
	}
	if s.Count() != 0 || s.Stats().Inserts != 0 {
		t.Error("something was inserted")
	}
}

func TestResultOrder(t *testing.T) {
	s := New[int](Options{CacheSize: 4})
	for i, subj := range []string{">", "*.b", "a.>", "a.*", "a.b", "*.*", "*.>", "a.b", "a.*"} {
		insert(t, s, subj, "", i)
	}
	if got := s.Match([]byte("a.b")).Plain; !slices.Equal(got, []int{4, 7, 3, 8, 2, 1, 5, 6, 0}) {
		t.Errorf("got %v", got)
	}
}

func TestQueueGroupsMergeAcrossPatterns(t *testing.T) {
	s := New[int](Options{CacheSize: 4})
	insert(t, s, "a.*", "q", 1)
	insert(t, s, "a.*", "r", 2)
	insert(t, s, "a.b", "q", 3)
	insert(t, s, "a.b", "p", 4)
	insert(t, s, ">", "q", 5)
	r := s.Match([]byte("a.b"))
	want := []Group[int]{{"p", []int{4}}, {"q", []int{3, 1, 5}}, {"r", []int{2}}}
	if !sameGroups(r.Queues, want) {
		t.Errorf("got %v, want %v", r.Queues, want)
	}
	if r.Fanout() != 3 {
		t.Errorf("fanout %d", r.Fanout())
	}
}

// A published subject is literal even where it looks like a wildcard.
func TestMatchTakesSubjectLiterally(t *testing.T) {
	s := New[int](Options{CacheSize: 4})
	insert(t, s, "foo.*", "", 1)
	insert(t, s, "foo.bar", "", 2)
	insert(t, s, ">", "", 3)
	insert(t, s, "*.>", "", 4)
	for _, c := range []struct {
		subject string
		want    []int
	}{
		{"foo.*", []int{1, 4, 3}},
		{"foo.>", []int{1, 4, 3}},
		{"foo.bar", []int{2, 1, 4, 3}},
		{">", []int{3}},
		{"*", []int{3}},
		{"foo..x", nil},
		{".foo", nil},
		{"foo.", nil},
		{"", nil},
	} {
		if got := s.Match([]byte(c.subject)).Plain; !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.subject, got, c.want)
		}
	}
}

func TestUnrelatedChangesLeaveResultsValid(t *testing.T) {
	s := New[int](Options{CacheSize: 8})
	insert(t, s, "a.b", "", 1)
	r := s.Match([]byte("a.b"))
	for _, other := range []string{"a.c", "a", "a.b.c", "x.*", "a.*.c", "*.c", "a.b.>", "b.>", "a.b.*"} {
		h := insert(t, s, other, "", 2)
		s.Remove(h)
		if !r.Valid() {
			t.Fatalf("%q made the result for a.b invalid", other)
		}
	}
	for _, related := range []string{"a.b", "a.*", "*.b", "*.*", "a.>", ">"} {
		h := insert(t, s, related, "", 2)
		if r.Valid() {
			t.Fatalf("%q inserted, and the result for a.b still valid", related)
		}
		r = s.Match([]byte("a.b"))
		s.Remove(h)
		if r.Valid() {
			t.Fatalf("%q removed, and the result for a.b still valid", related)
		}
		r = s.Match([]byte("a.b"))
	}
}

func TestEvictedResultsLearnOfChanges(t *testing.T) {
	for _, size := range []int{0, 1, 2} {
		s := New[int](Options{CacheSize: size})
		r := s.Match([]byte("a.b"))
		for i := range 10 {
			s.Match(fmt.Appendf(nil, "x.%d", i))
		}
		if !r.Valid() {
			t.Errorf("size %d: eviction alone made it invalid", size)
		}
		insert(t, s, "a.b", "", 1)
		if r.Valid() {
			t.Errorf("size %d: not noticed", size)
		}
	}
}

func TestEvictionSparesWhatIsUsed(t *testing.T) {
	s := New[int](Options{CacheSize: 4})
	for i := range 100 {
		s.Match([]byte("hot"))
		s.Match(fmt.Appendf(nil, "cold.%d", i))
	}
	if st := s.Stats(); st.Hits != 99 || st.Matches != 200 || st.Cached != 4 {
		t.Errorf("%+v", st)
	}
}

func TestStatsFanout(t *testing.T) {
	s := New[int](Options{CacheSize: 8})
	for i := range 3 {
		insert(t, s, "s.a", "", i)
	}
	insert(t, s, "s.a", "q1", 3)
	insert(t, s, "s.a", "q1", 4)
	insert(t, s, "s.a", "q2", 5)
	s.Match([]byte("s.a"))
	s.Match([]byte("s.b"))
	st := s.Stats()
	if st.Subs != 6 || st.Cached != 2 || st.FanoutMax != 5 || st.FanoutSum != 5 {
		t.Errorf("%+v", st)
	}
}

func TestMatchOnHitDoesNotAllocate(t *testing.T) {
	for _, subj := range [][]byte{[]byte("a.b"), []byte("a." + strings.Repeat("b", 100))} {
		s := New[int](Options{CacheSize: 8})
		insert(t, s, string(subj), "", 1)
		insert(t, s, "a.*", "q", 2)
		s.Match(subj)
		n := testing.AllocsPerRun(100, func() {
			if r := s.Match(subj); !r.Valid() || len(r.Plain) != 1 || len(r.Queues) != 1 {
				t.Error("wrong result")
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", subj, n)
		}
	}
}

// Neither changes of cached subjects nor those of others need memory for the
// cache to be told.
func TestChangesDoNotAllocate(t *testing.T) {
	for _, subj := range []string{"a.b", "a." + strings.Repeat("b", 100)} {
		s := New[int](Options{CacheSize: 8})
		s.Match([]byte(subj))
		n := testing.AllocsPerRun(100, func() {
			s.cache.literalChanged(subj)
			s.cache.patternChanged("a.*")
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", subj, n)
		}
	}
}

func TestInterestDoesNotAllocate(t *testing.T) {
	s := New[int](Options{CacheSize: 8})
	insert(t, s, "a.b", "", 1)
	insert(t, s, "a.*.c.>", "", 2)
	hit, miss, empty := []byte("a.x.c.d"), []byte("a.x.c"), []byte("a..c.d")
	n := testing.AllocsPerRun(100, func() {
		if !s.HasInterest(hit) || s.HasInterest(miss) || s.HasInterest(empty) {
			t.Error("wrong answer")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Ten thousand subscribers to one subject leave in the order they came, with a
// match in between now and then.
func TestCrowdLeaves(t *testing.T) {
	s := New[int](Options{CacheSize: 8})
	var hs []Handle[int]
	for i := range 10000 {
		queue := ""
		if i%2 == 1 {
			queue = "q"
		}
		hs = append(hs, insert(t, s, "a.b", queue, i))
	}
	for i, h := range hs {
		if i%1000 == 0 {
			r := s.Match([]byte("a.b"))
			if len(r.Plain) != 5000-i/2 || len(r.Queues[0].Members) != 5000-i/2 || r.Plain[0] != i {
				t.Fatalf("after %d removals: %d plain", i, len(r.Plain))
			}
		}
		if !s.Remove(h) {
			t.Fatalf("%d is not there", i)
		}
	}
	if err := s.Check(); err != nil || s.Count() != 0 {
		t.Fatalf("%d left, %v", s.Count(), err)
	}
}

// A node may not keep the subject alive that made it: only its own token.
func TestNodeOwnsItsToken(t *testing.T) {
	s := New[int](Options{})
	long := "a." + strings.Repeat("x", 1000) + ".*"
	h := insert(t, s, long, "", 1)
	insert(t, s, "a.*", "", 2)
	s.Remove(h)
	if e := s.patterns.literal.few; len(e) != 1 || e[0].token != "a" || e[0].node == nil {
		t.Fatalf("unexpected trie: %+v", e)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
}

// Many tokens under one node go into a map and come back out of it.
func TestManyEdges(t *testing.T) {
	s := New[int](Options{CacheSize: 2})
	var hs []Handle[int]
	for i := range 300 {
		hs = append(hs, insert(t, s, fmt.Sprintf("in.%d.*", i), "", i))
	}
	for i, h := range hs {
		subj := fmt.Appendf(nil, "in.%d.x", i)
		if r := s.Match(subj); !slices.Equal(r.Plain, []int{i}) {
			t.Fatalf("%s: %v", subj, r.Plain)
		}
		s.Remove(h)
		if s.HasInterest(subj) {
			t.Fatalf("%s: still there", subj)
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if !s.patterns.empty() {
		t.Error("nodes left")
	}
}

func TestSubjectOfManyTokens(t *testing.T) {
	s := New[int](Options{CacheSize: 2})
	deep := strings.Repeat("a.", 2000)
	h1, h2 := insert(t, s, deep+"*", "", 1), insert(t, s, deep+"b.>", "", 2)
	insert(t, s, strings.Repeat("*.", 2000)+"b.c", "", 3)
	if got := s.Match([]byte(deep + "b.c")).Plain; !slices.Equal(got, []int{2, 3}) {
		t.Errorf("got %v", got)
	}
	if !s.Remove(h1) || !s.Remove(h2) || s.Count() != 1 {
		t.Error("not removed")
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestZeroHandle(t *testing.T) {
	var h Handle[int]
	if !h.IsZero() || h.Subject() != "" || h.Queue() != "" || New[int](Options{}).Remove(h) {
		t.Error("the zero handle names something")
	}
}

func TestListStopsWhenAsked(t *testing.T) {
	s := New[int](Options{})
	for i := range 5 {
		insert(t, s, "a", "", i)
	}
	var at Position
	var got []int
	for done := false; !done; {
		at, done = s.List(at, 100, nil, func(_ Handle[int], v int) bool {
			got = append(got, v)
			return false
		})
	}
	if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("got %v", got)
	}
}

func TestForgetMakesResultsStale(t *testing.T) {
	for _, size := range []int{-1, 1, 8} {
		s := New[int](Options{CacheSize: size})
		s.Forget() // of nothing
		if _, err := s.Insert([]byte("a.*"), nil, 1); err != nil {
			t.Fatal(err)
		}
		r, other := s.Match([]byte("a.b")), s.Match([]byte("c"))
		s.Forget()
		if r.Valid() || other.Valid() {
			t.Errorf("cache of %d: results are still valid", size)
		}
		if again := s.Match([]byte("a.b")); !again.Valid() || len(again.Plain) != 1 {
			t.Errorf("cache of %d: %v", size, again.Plain)
		}
	}
}
