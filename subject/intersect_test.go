package subject

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIntersectModel compares with trying every literal of up to four tokens.
func TestIntersectModel(t *testing.T) {
	var literals []string
	var add func(prefix string, depth int)
	add = func(prefix string, depth int) {
		for _, tok := range []string{"a", "b"} {
			literals = append(literals, prefix+tok)
			if depth > 1 {
				add(prefix+tok+".", depth-1)
			}
		}
	}
	add("", 4)
	pattern := rapid.Custom(func(t *rapid.T) string {
		tokens := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*"}), 1, 4).Draw(t, "tokens")
		if rapid.Bool().Draw(t, "full") {
			tokens[len(tokens)-1] = ">"
		}
		return strings.Join(tokens, ".")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := pattern.Draw(t, "a"), pattern.Draw(t, "b")
		both, ok := Intersect(a, b)
		if ok != Collide(a, b) {
			t.Fatalf("Intersect(%q, %q): %v, but Collide says %v", a, b, ok, !ok)
		}
		if !ok {
			return
		}
		if Check(both) == Invalid {
			t.Fatalf("Intersect(%q, %q) = %q, not a pattern", a, b, both)
		}
		for _, l := range literals {
			if Match(l, both) != (Match(l, a) && Match(l, b)) {
				t.Fatalf("Intersect(%q, %q) = %q is wrong about %q", a, b, both, l)
			}
		}
	})
}
