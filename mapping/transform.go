package mapping

import (
	"github.com/natsd/natsd/subject"
)

// Transform rewrites the subjects that match its source. It never changes and
// may be shared.
type Transform struct {
	source      string
	destination string
	steps       []step
	tokens      int  // of the source, its ">" counted
	full        bool // the source ends in ">"
	random      bool // some step draws
}

// step appends one piece of the result.
type step struct {
	kind  kind
	index int    // the number of the subject's token to work on
	n     int64  // how many
	all   bool   // partition: hash the whole subject
	of    []int  // partition: the numbers of the tokens to hash
	text  string // literal text, or what split cuts at
}

// Source returns the pattern of the subjects that are rewritten.
func (t *Transform) Source() string { return t.source }

// Destination returns the template.
func (t *Transform) Destination() string { return t.destination }

// NeedsRandom reports whether the result depends on the random number.
func (t *Transform) NeedsRandom() bool { return t.random }

// Match reports whether t rewrites subj. A "*" in subj is a token like others.
func (t *Transform) Match(subj []byte) bool {
	_, ok := t.locate(subj, nil)
	return ok
}

// Apply appends what t makes of subj to dst. ok is false, and dst unchanged, if
// subj does not match the source. draw decides what random(n) gives.
//
// The result is a subject that messages may be published on, with two
// exceptions that come from the publisher's own tokens, and which nats-server
// has too: split leaves an empty token when the captured one is made of
// separators alone (such a message reaches nobody), and a cut may leave a token
// that is a wildcard's character (it is literal there).
//
// dst and subj must not overlap.
func (t *Transform) Apply(dst, subj []byte, draw uint64) (result []byte, ok bool) {
	var ends [tokensNear]int32
	at, ok := t.locate(subj, ends[:])
	if !ok {
		return dst, false
	}
	for i := range t.steps {
		s := &t.steps[i]
		switch s.kind {
		case literal:
			dst = append(dst, s.text...)
		case rest:
			dst = append(dst, subj[at:]...)
		case partition:
			dst = s.partition(dst, subj, ends[:])
		case random:
			dst = s.random(dst, draw, i)
		default:
			dst = s.cut(dst, captured(subj, s.index, ends[:]))
		}
	}
	return dst, true
}

// tokensNear is the number of tokens whose places are remembered while a
// subject is matched. Places behind are searched again when needed.
const tokensNear = 32

// locate matches subj and notes in ends where its first tokens end. It returns
// where the text that ">" captures begins.
func (t *Transform) locate(subj []byte, ends []int32) (at int, ok bool) {
	src := t.source
	i, j := 0, 0
	for n := 0; ; n++ {
		ie := subject.TokenEnd(src, i)
		if t.full && n == t.tokens-1 {
			return j, j < len(subj)
		}
		je := subject.TokenEnd(subj, j)
		if src[i:ie] == "*" {
			if je == j || je == j+1 && subj[j] == subject.Full {
				return 0, false
			}
		} else if src[i:ie] != string(subj[j:je]) {
			return 0, false
		}
		if n < len(ends) {
			ends[n] = int32(je)
		}
		if ie == len(src) || je == len(subj) {
			return je, ie == len(src) && je == len(subj)
		}
		i, j = ie+1, je+1
	}
}

// captured returns token n of subj.
func captured(subj []byte, n int, ends []int32) []byte {
	switch {
	case n == 0:
		return subj[:subject.TokenEnd(subj, 0)] // a source of ">" notes no places
	case n < len(ends):
		return subj[ends[n-1]+1 : ends[n]]
	}
	from, to, _ := subject.Token(subj, n) // the match has proved that it exists
	return subj[from:to]
}
