package wire

import (
	"strings"
	"testing"
)

// The verb is told at the earliest byte that decides it, in either letter case, and no later byte changes it.
func TestParseVerb(t *testing.T) {
	for _, c := range []struct {
		text string
		verb Verb
		n    int
	}{
		{"", VerbNone, 0},
		{"PUB ", VerbPub, 4}, {"pub\t", VerbPub, 4}, {"pUb x", VerbPub, 4}, {"PUBX", VerbUnknown, 0}, {"PUB\r", VerbUnknown, 0},
		{"HPUB ", VerbHPub, 5}, {"HPUX", VerbUnknown, 0}, {"H PUB", VerbUnknown, 0},
		{"SUB\t", VerbSub, 4}, {"SUBSCRIBE", VerbUnknown, 0},
		{"UNSUB ", VerbUnsub, 6}, {"UNSUB1", VerbUnknown, 0},
		{"PING", VerbPing, 4}, {"ping whatever", VerbPing, 4}, {"PINGX", VerbPing, 4}, {"PIN G", VerbUnknown, 0},
		{"PONG", VerbPong, 4}, {"PO", VerbNone, 0},
		{"CONNECT{", VerbConnect, 7}, {"connect {}", VerbConnect, 7}, {"CONNECTX", VerbConnect, 7}, {"CONNEXT", VerbUnknown, 0},
		{"INFO", VerbInfo, 4}, {"INF", VerbNone, 0},
		{"+OK", VerbOK, 3}, {"+ok then", VerbOK, 3}, {"+X", VerbUnknown, 0},
		{"-ERR ", VerbErr, 5}, {"-ERR", VerbNone, 0}, {"-err\t'x'", VerbErr, 5}, {"-ERR'x'", VerbUnknown, 0},
		{"MSG a 1 0", VerbUnknown, 0}, {"\r", VerbUnknown, 0}, {" PUB", VerbUnknown, 0}, {"\x00", VerbUnknown, 0},
		{"PüB ", VerbUnknown, 0},
	} {
		if verb, n := ParseVerb([]byte(c.text)); verb != c.verb || n != c.n {
			t.Errorf("%q: verb %d, %d bytes, want %d and %d", c.text, verb, n, c.verb, c.n)
		}
	}
}

func TestParseVerbAtEveryPrefix(t *testing.T) {
	for _, s := range spellings {
		for _, word := range []string{s.word, strings.ToLower(s.word)} {
			for i := range len(word) {
				if verb, n := ParseVerb([]byte(word[:i])); verb != VerbNone || n != 0 {
					t.Errorf("%q: verb %d, %d bytes, before its end", word[:i], verb, n)
				}
			}
		}
	}
}

func FuzzParseVerb(f *testing.F) {
	for _, s := range spellings {
		f.Add([]byte(s.word + " a"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, n := ParseVerb(b)
		if n < 0 || n > len(b) {
			t.Fatalf("%d bytes of %d belong to the verb", n, len(b))
		}
		for i := range b {
			verb, m := ParseVerb(b[:i])
			if verb == VerbNone {
				continue
			}
			if verb != whole || m != n {
				t.Fatalf("%q is verb %d, %d bytes, and %q verb %d, %d bytes", b[:i], verb, m, b, whole, n)
			}
		}
	})
}
