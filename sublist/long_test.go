package sublist

import (
	"strings"
	"testing"
)

// Patterns that are long are held against cached results in part: what they match turns stale all the same, and what has
// little in common with them does not.
func TestLongPatternsInvalidate(t *testing.T) {
	deep := strings.Repeat("a.", patternMax)
	for _, c := range []struct {
		name, pattern, subject string
		matches, stale         bool
	}{
		{"many tokens", strings.Repeat("*.", patternMax) + "b", deep + "b", true, true},
		{"many tokens, another end", strings.Repeat("*.", patternMax) + "b", deep + "c", false, true},
		{"many tokens, kin", deep + "*", deep + "b", true, true},
		{"many tokens, kin, another beginning", deep + "*", "a.a.b." + deep + "c", false, false},
		{"a short subject", strings.Repeat("*.", patternMax) + "b", "a.b", false, false},
		{"a long token", strings.Repeat("x", 2*patternMax) + ".*", strings.Repeat("x", 2*patternMax) + ".y", true, true},
		{"everything below", deep + ">", deep + "b.c", true, true},
		{"as long as can be", strings.Repeat("*.", (patternMax-2)/2) + "*b", strings.Repeat("a.", (patternMax-2)/2) + "*b", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New[int](Options{CacheSize: 8})
			before := s.Match([]byte(c.subject))
			h, err := s.Insert([]byte(c.pattern), nil, 1)
			if err != nil {
				t.Fatal(err)
			}
			if s.cache.used != 0 != !c.stale {
				t.Errorf("%d results are cached", s.cache.used)
			}
			if got := s.Match([]byte(c.subject)); len(got.Plain) == 1 != c.matches || before.Valid() && c.matches {
				t.Errorf("reaches %v, and what was found before is valid: %v", got.Plain, before.Valid())
			}
			s.Remove(h)
			if got := s.Match([]byte(c.subject)); !got.Empty() {
				t.Errorf("reaches %v when nobody subscribes", got.Plain)
			}
		})
	}
}

// What a change costs does not grow with the length of subjects as it does with the results held against it.
func TestLongPatternsCostLittleMore(t *testing.T) {
	const results = 100
	s := New[int](Options{CacheSize: results})
	deep := strings.Repeat("a.", 1000)
	for i := range results {
		s.Match([]byte(deep + string(rune('a'+i%26)) + string(rune('a'+i/26))))
	}
	cost := func(pattern string) uint64 {
		before := s.Steps()
		if _, err := s.Insert([]byte(pattern), nil, 1); err != nil {
			t.Fatal(err)
		}
		return s.Steps() - before
	}
	if short, long := cost("*.b"), cost(strings.Repeat("*.", 1000)+"b"); short < results || long > results*(1+patternMax/(2*stepBytes))+2*changeSteps(deep) {
		t.Errorf("a short pattern costs %d steps, a long one %d", short, long)
	}
}
