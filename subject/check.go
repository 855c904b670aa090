package subject

// The bytes that have a meaning of their own in a subject.
const (
	Sep  = '.' // between two tokens
	Star = '*' // alone in a token: any one token
	Full = '>' // alone in the last token: one token or more
)

// Text is what a subject may be held in.
type Text interface{ ~string | ~[]byte }

// Kind says what a text is good for.
type Kind uint8

// The kinds of text.
const (
	Invalid  Kind = iota // not a subject
	Literal              // names one subject: valid to publish on and to subscribe to
	Wildcard             // valid to subscribe to only
)

// Check classifies s in one pass.
func Check[S Text](s S) Kind {
	kind := Literal
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > Full {
			continue
		}
		switch c {
		case Sep:
			if i == start {
				return Invalid
			}
			start = i + 1
		case ' ', '\t', '\r', '\n':
			return Invalid
		case Star:
			if i == start && endsToken(s, i+1) {
				kind = Wildcard
			}
		case Full:
			if i == start && endsToken(s, i+1) {
				if i+1 != len(s) {
					return Invalid
				}
				kind = Wildcard
			}
		}
	}
	if start == len(s) {
		return Invalid
	}
	return kind
}

// endsToken reports whether a token of s ends at i.
func endsToken[S Text](s S, i int) bool {
	return i == len(s) || s[i] == Sep
}

// ValidLiteral reports whether a message may travel on s.
func ValidLiteral[S Text](s S) bool { return Check(s) == Literal }

// ValidPattern reports whether a subscription may name s.
func ValidPattern[S Text](s S) bool { return Check(s) != Invalid }

// HasWildcard reports whether s, a valid pattern, matches more than itself.
func HasWildcard[S Text](s S) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c == Star || c == Full) && (i == 0 || s[i-1] == Sep) && endsToken(s, i+1) {
			return true
		}
	}
	return false
}

// HasEmptyToken reports whether s is empty or has an empty token.
func HasEmptyToken[S Text](s S) bool {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] == Sep {
			if i == start {
				return true
			}
			start = i + 1
		}
	}
	return start == len(s)
}

// TokenEnd returns where the token of s that starts at pos ends: the offset of
// the separator behind it, or len(s).
func TokenEnd[S Text](s S, pos int) int {
	for pos < len(s) && s[pos] != Sep {
		pos++
	}
	return pos
}

// Tokens returns the number of tokens of s.
func Tokens[S Text](s S) int {
	n := 1
	for i := 0; i < len(s); i++ {
		if s[i] == Sep {
			n++
		}
	}
	return n
}

// Token returns the bounds of the n-th token of s, counted from 0, so that
// s[from:to] is the token. ok is false when s has no such token.
func Token[S Text](s S, n int) (from, to int, ok bool) {
	for pos := 0; ; n-- {
		end := TokenEnd(s, pos)
		if n == 0 {
			return pos, end, true
		}
		if end == len(s) {
			return 0, 0, false
		}
		pos = end + 1
	}
}
