package wire

// Verb is a client protocol operation.
type Verb uint8

// Verbs a client may send. VerbNone means that the bytes so far decide nothing yet.
const (
	VerbNone Verb = iota
	VerbPub
	VerbHPub
	VerbSub
	VerbUnsub
	VerbPing
	VerbPong
	VerbConnect
	VerbInfo
	VerbOK
	VerbErr
	VerbUnknown
)

type spelling struct {
	word string
	verb Verb
	// spaced: a space or tab must follow. Otherwise anything may, up to the end of the line.
	spaced bool
}

var spellings = [...]spelling{
	{"PUB", VerbPub, true},
	{"HPUB", VerbHPub, true},
	{"SUB", VerbSub, true},
	{"UNSUB", VerbUnsub, true},
	{"PING", VerbPing, false},
	{"PONG", VerbPong, false},
	{"CONNECT", VerbConnect, false},
	{"INFO", VerbInfo, false},
	{"+OK", VerbOK, false},
	{"-ERR", VerbErr, true},
}

// ParseVerb tells the operation that b starts with and the length of what belongs to the verb: the word and, where one
// must follow, one space or tab. VerbUnknown means that no continuation of b is an operation: the server answers at that
// byte without waiting for the line's end. Letters count in either case.
func ParseVerb(b []byte) (v Verb, n int) {
	for i := range spellings {
		s := &spellings[i]
		k := commonPrefix(b, s.word)
		switch {
		case k == len(s.word):
			if !s.spaced {
				return s.verb, k
			}
			if len(b) == k {
				return VerbNone, 0
			}
			if b[k] == ' ' || b[k] == '\t' {
				return s.verb, k + 1
			}
		case k == len(b):
			return VerbNone, 0
		}
	}
	return VerbUnknown, 0
}

func commonPrefix(b []byte, word string) int {
	n := min(len(b), len(word))
	for i := 0; i < n; i++ {
		if upper(b[i]) != word[i] {
			return i
		}
	}
	return n
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
