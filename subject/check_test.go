package subject

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checks are texts and what they are good for. Those with odd characters were
// tried on nats-server 2.15.2.
var checks = []struct {
	text string
	want Kind
}{
	{"foo", Literal},
	{"foo.bar.baz", Literal},
	{"$SYS.REQ.SERVER.PING", Literal},
	{"_INBOX.Xy7.1", Literal},
	{"föö.世界", Literal},
	{"\xff\xfe", Literal},
	{"\uFFFD", Literal},
	{"foo\x00", Literal},
	{"foo\fbar", Literal},
	{"foo.\v", Literal},
	{"foo.\u00a0", Literal},
	{"\x7f", Literal},

	{"*", Wildcard},
	{">", Wildcard},
	{"foo.*", Wildcard},
	{"*.foo", Wildcard},
	{"foo.*.bar", Wildcard},
	{"*.*", Wildcard},
	{"foo.>", Wildcard},
	{"*.>", Wildcard},

	{"foo*", Literal},
	{"*foo", Literal},
	{"a*b", Literal},
	{"**", Literal},
	{"a>b", Literal},
	{">>", Literal},
	{">a", Literal},
	{"foo.>x", Literal},
	{"foo.*x", Literal},
	{"foo*.>", Wildcard},
	{"*>", Literal},

	{"", Invalid},
	{".", Invalid},
	{"..", Invalid},
	{".foo", Invalid},
	{"foo.", Invalid},
	{"foo..bar", Invalid},
	{"foo.>.", Invalid},
	{">.foo", Invalid},
	{"foo.>.bar", Invalid},
	{">.>", Invalid},
	{"*.", Invalid},
	{"foo bar", Invalid},
	{" ", Invalid},
	{"foo.\tbar", Invalid},
	{"foo\r", Invalid},
	{"foo\n", Invalid},
	{"foo. ", Invalid},
	{"* ", Invalid},
}

func TestCheck(t *testing.T) {
	for _, c := range checks {
		if got := Check(c.text); got != c.want {
			t.Errorf("Check(%q) = %d, want %d", c.text, got, c.want)
		}
		if got := Check([]byte(c.text)); got != c.want {
			t.Errorf("Check of the bytes of %q = %d, want %d", c.text, got, c.want)
		}
		if got := ValidLiteral(c.text); got != (c.want == Literal) {
			t.Errorf("ValidLiteral(%q) = %v", c.text, got)
		}
		if got := ValidPattern(c.text); got != (c.want != Invalid) {
			t.Errorf("ValidPattern(%q) = %v", c.text, got)
		}
		if c.want != Invalid && HasWildcard(c.text) != (c.want == Wildcard) {
			t.Errorf("HasWildcard(%q) = %v", c.text, HasWildcard(c.text))
		}
	}
}

// naiveCheck is Check by the book.
func naiveCheck(s string) Kind {
	if strings.ContainsAny(s, " \t\r\n") {
		return Invalid
	}
	kind := Literal
	tokens := strings.Split(s, ".")
	for i, t := range tokens {
		switch {
		case t == "" || t == ">" && i < len(tokens)-1:
			return Invalid
		case t == "*" || t == ">":
			kind = Wildcard
		}
	}
	return kind
}

// text draws strings in which the special characters are frequent.
var text = rapid.StringOfN(rapid.SampledFrom([]rune("ab.*>. é")), 0, 12, -1)

func checkProperty(t *rapid.T) {
	s := text.Draw(t, "s")
	if got, want := Check(s), naiveCheck(s); got != want {
		t.Fatalf("Check(%q) = %d, want %d", s, got, want)
	}
	tokens := strings.Split(s, ".")
	if got := Tokens(s); got != len(tokens) {
		t.Fatalf("Tokens(%q) = %d", s, got)
	}
	empty := false
	for i, want := range tokens {
		from, to, ok := Token(s, i)
		if !ok || s[from:to] != want || TokenEnd(s, from) != to {
			t.Fatalf("Token(%q, %d) = %d, %d, %v", s, i, from, to, ok)
		}
		empty = empty || want == ""
	}
	if _, _, ok := Token(s, len(tokens)); ok {
		t.Fatalf("%q has too many tokens", s)
	}
	if HasEmptyToken(s) != empty {
		t.Fatalf("HasEmptyToken(%q) = %v", s, !empty)
	}
	if k := Check(s); k != Invalid && HasWildcard(s) != (k == Wildcard) {
		t.Fatalf("HasWildcard(%q) = %v", s, k != Wildcard)
	}
}

func TestCheckModel(t *testing.T) { rapid.Check(t, checkProperty) }

func FuzzCheck(f *testing.F) {
	for _, c := range checks {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := Check(s), naiveCheck(s); got != want {
			t.Fatalf("Check(%q) = %d, want %d", s, got, want)
		}
	})
}
