package subject

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		literal, pattern string
		want             bool
	}{
		{"foo", "foo", true},
		{"foo", "fo", false},
		{"fo", "foo", false},
		{"foo", "*", true},
		{"foo", ">", true},
		{"foo.bar", ">", true},
		{"foo.bar", "*", false},
		{"foo", "foo.>", false},
		{"foo.bar", "foo.>", true},
		{"foo.bar.baz", "foo.>", true},
		{"foo.bar", "*.bar", true},
		{"foo.bar", "foo.*", true},
		{"foo.bar.baz", "foo.*", false},
		{"foo.bar.baz", "foo.*.baz", true},
		{"foo.bar.bat", "foo.*.baz", false},
		{"foo", "foo.*", false},
		{"foo", "*.*", false},
		{"foo.bar", "*.*", true},
		{"foo.bar", "*.>", true},
		{"foo", "*.>", false},
		{"foox", "foo*", false},
		{"foo*", "foo*", true},
		{"a>b", "a>b", true},
		{"axb", "a>b", false},
		{"a.b", "a.>x", false},
		{"a.>x", "a.>x", true},
		// A published subject is literal, whatever is in it.
		{"foo.*", "foo.*", true},
		{"foo.*", "foo.bar", false},
		{"foo.>", "foo.bar", false},
		{"foo.>", "foo.>", true},
		{">", "*", true},
		{"a.>.b", "a.*.b", true},
	} {
		if got := Match(c.literal, c.pattern); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.literal, c.pattern, got)
		}
		if got := Match([]byte(c.literal), c.pattern); got != c.want {
			t.Errorf("Match of the bytes of %q with %q = %v", c.literal, c.pattern, got)
		}
	}
}

func TestCollideAndIsSubset(t *testing.T) {
	for _, c := range []struct {
		a, b                string
		collide, aInB, bInA bool
	}{
		{"foo", "foo", true, true, true},
		{"foo", "bar", false, false, false},
		{"foo", "*", true, true, false},
		{"foo.*", "*.bar", true, false, false},
		{"foo.*", "foo.>", true, true, false},
		{"foo.>", ">", true, true, false},
		{"foo", "foo.>", false, false, false},
		{"*.*", "*", false, false, false},
		{"*.>", "*.*", true, false, true},
		{"*.>", ">", true, true, false},
		{"foo.*.baz", "foo.bar.*", true, false, false},
		{"foo.*.baz", "foo.bar.>", true, false, false},
		{"foo.*.baz", "foo.*.bar", false, false, false},
		{"a.b.c", "a.>", true, true, false},
		{"a*", "ab", false, false, false},
		{"a.>", "a.>", true, true, true},
	} {
		if got := Collide(c.a, c.b); got != c.collide {
			t.Errorf("Collide(%q, %q) = %v", c.a, c.b, got)
		}
		if got := Collide(c.b, c.a); got != c.collide {
			t.Errorf("Collide(%q, %q) = %v", c.b, c.a, got)
		}
		if got := IsSubset(c.a, c.b); got != c.aInB {
			t.Errorf("IsSubset(%q, %q) = %v", c.a, c.b, got)
		}
		if got := IsSubset(c.b, c.a); got != c.bInA {
			t.Errorf("IsSubset(%q, %q) = %v", c.b, c.a, got)
		}
	}
}

// naiveMatch is Match by the book.
func naiveMatch(literal, pattern string) bool {
	ls, ps := strings.Split(literal, "."), strings.Split(pattern, ".")
	for i, p := range ps {
		if p == ">" {
			return len(ls) > i
		}
		if i >= len(ls) || p != "*" && p != ls[i] {
			return false
		}
	}
	return len(ls) == len(ps)
}

// small is a world of subjects in which every question about two patterns of
// at most three tokens can be answered by trying all literals. One token more
// than the patterns have stands for all longer literals, and "z", which no
// pattern names, for all other tokens.
var small = func() (all []string) {
	level := []string{""}
	for range 4 {
		var next []string
		for _, prefix := range level {
			for _, token := range []string{"a", "b", "a*", "z"} {
				next = append(next, prefix+token+".")
			}
		}
		level = next
		for _, s := range next {
			all = append(all, strings.TrimSuffix(s, "."))
		}
	}
	return all
}()

// pattern draws a pattern of at most three tokens from that world.
var pattern = rapid.Custom(func(t *rapid.T) string {
	n := rapid.IntRange(1, 3).Draw(t, "tokens")
	parts := make([]string, n)
	for i := range parts {
		choice := []string{"a", "b", "a*", "*", ">"}
		if i < n-1 {
			choice = choice[:4]
		}
		parts[i] = rapid.SampledFrom(choice).Draw(t, "token")
	}
	return strings.Join(parts, ".")
})

func matchProperty(t *rapid.T) {
	a, b := pattern.Draw(t, "a"), pattern.Draw(t, "b")
	collide, subset := false, true
	for _, l := range small {
		ma, mb := naiveMatch(l, a), naiveMatch(l, b)
		if Match(l, a) != ma {
			t.Fatalf("Match(%q, %q) = %v", l, a, !ma)
		}
		collide = collide || ma && mb
		subset = subset && (!ma || mb)
	}
	if Collide(a, b) != collide || Collide(b, a) != collide {
		t.Fatalf("Collide(%q, %q) is not %v both ways", a, b, collide)
	}
	if IsSubset(a, b) != subset {
		t.Fatalf("IsSubset(%q, %q) = %v", a, b, !subset)
	}
}

func TestMatchModel(t *testing.T) { rapid.Check(t, matchProperty) }

func FuzzMatch(f *testing.F) {
	f.Add("foo.bar", "foo.*")
	f.Add("foo.>", "foo.>")
	f.Add("a..b", "a.*.b")
	f.Fuzz(func(t *testing.T, a, b string) {
		// No text may break the functions, valid or not.
		collide, subset, match := Collide(a, b), IsSubset(a, b), Match(a, b)
		if Check(b) == Invalid || Check(a) == Invalid {
			return
		}
		if Check(a) == Literal && (match != naiveMatch(a, b) || match != collide || match != subset) {
			t.Fatalf("%q in %q: match %v, collide %v, subset %v", a, b, match, collide, subset)
		}
		if Collide(b, a) != collide || subset && !collide || subset && IsSubset(b, a) && a != b {
			t.Fatalf("%q and %q: collide %v, subset %v", a, b, collide, subset)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	literal, pat := []byte("foo.bar.baz"), []byte("foo.*.>")
	n := testing.AllocsPerRun(100, func() {
		if !Match(literal, pat) || !Collide(literal, pat) || !IsSubset(literal, pat) ||
			Check(pat) != Wildcard || !HasWildcard(pat) || HasEmptyToken(pat) || Tokens(pat) != 3 {
			t.Error("wrong answer")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
