package wire

import (
	"bytes"
	"strings"
	"testing"
)

// pub is what a PUB or HPUB line means, as text; header -1 for PUB.
type pub struct {
	subject, reply, headerToken, sizeToken string
	header, size                           int
}

func (a *PubArgs) text() pub {
	return pub{string(a.Subject), string(a.Reply), string(a.HeaderToken), string(a.SizeToken), a.Header, a.Size}
}

func TestParsePub(t *testing.T) {
	for _, c := range []struct {
		line string
		want pub
	}{
		{"foo 5", pub{"foo", "", "", "5", -1, 5}},
		{"foo bar 5", pub{"foo", "bar", "", "5", -1, 5}},
		{"\t foo \t bar\t0 ", pub{"foo", "bar", "", "0", -1, 0}},
		{"foo 000000005", pub{"foo", "", "", "000000005", -1, 5}},
		{"foo 999999999", pub{"foo", "", "", "999999999", -1, 999_999_999}},
		{"f\ro 1", pub{"f\ro", "", "", "1", -1, 1}}, // a CR is a byte of the subject
		{"5 5", pub{"5", "", "", "5", -1, 5}},
	} {
		a := PubArgs{HeaderToken: []byte("left over"), Reply: []byte("left over"), Header: 9}
		if !a.ParsePub([]byte(c.line)) || a.text() != c.want {
			t.Errorf("%q: %+v, want %+v", c.line, a.text(), c.want)
		}
	}
	for _, line := range []string{
		"", " ", "foo", "5", "foo bar baz 5", "foo bar", "foo -1", "foo +1", "foo 1x", "foo 0x1", "foo 1.0", "foo 1000000000",
		"foo 0000000001", "foo 1\r", "foo \xb2", "foo 1 2 3 4 5 6",
	} {
		var a PubArgs
		if a.ParsePub([]byte(line)) {
			t.Errorf("%q was accepted: %+v", line, a.text())
		}
	}
}

func TestParseHPub(t *testing.T) {
	for _, c := range []struct {
		line string
		want pub
	}{
		{"foo 12 17", pub{"foo", "", "12", "17", 12, 17}},
		{"foo bar 12 12", pub{"foo", "bar", "12", "12", 12, 12}},
		{"foo 0 0", pub{"foo", "", "0", "0", 0, 0}},
		{" foo\tbar  012\t 17", pub{"foo", "bar", "012", "17", 12, 17}},
	} {
		a := PubArgs{Reply: []byte("left over")}
		if !a.ParseHPub([]byte(c.line)) || a.text() != c.want {
			t.Errorf("%q: %+v, want %+v", c.line, a.text(), c.want)
		}
	}
	for _, line := range []string{
		"", "foo", "foo 12", "foo 18 17", "foo bar baz 12 17", "foo -1 17", "foo 12 -1", "foo x 17", "foo 12 1000000000",
		"foo bar 12", "a b c d e f",
	} {
		var a PubArgs
		if a.ParseHPub([]byte(line)) {
			t.Errorf("%q was accepted: %+v", line, a.text())
		}
	}
}

func TestParseSub(t *testing.T) {
	for _, c := range []struct{ line, subject, queue, sid string }{
		{"foo 1", "foo", "", "1"},
		{"foo q 1", "foo", "q", "1"},
		{"\tfoo.*  q\t \tsid ", "foo.*", "q", "sid"},
		{"foo 1\r", "foo", "", "1"}, // a CR separates, as it does in UNSUB
		{"foo\r1", "foo", "", "1"},
	} {
		subject, queue, sid, ok := ParseSub([]byte(c.line))
		if !ok || string(subject) != c.subject || string(queue) != c.queue || string(sid) != c.sid {
			t.Errorf("%q: %q %q %q %v", c.line, subject, queue, sid, ok)
		}
	}
	for _, line := range []string{"", "foo", " foo ", "a b c d", "a b c d e"} {
		if _, _, _, ok := ParseSub([]byte(line)); ok {
			t.Errorf("%q was accepted", line)
		}
	}
}

func TestParseUnsub(t *testing.T) {
	for _, c := range []struct {
		line string
		sid  string
		max  int
	}{
		{"1", "1", 0}, {"1 5", "1", 5}, {" sid\t10 ", "sid", 10}, {"1 0", "1", 0},
		{"1 -5", "1", 0}, {"1 x", "1", 0}, {"1 9999999999", "1", 0}, {"1 5\r", "1", 5},
	} {
		sid, n, ok := ParseUnsub([]byte(c.line))
		if !ok || string(sid) != c.sid || n != c.max {
			t.Errorf("%q: %q %d %v, want %q %d", c.line, sid, n, ok, c.sid, c.max)
		}
	}
	for _, line := range []string{"", " ", "1 2 3"} {
		if _, _, ok := ParseUnsub([]byte(line)); ok {
			t.Errorf("%q was accepted", line)
		}
	}
}

// naiveFields is what fields does, by the standard library.
func naiveFields(line []byte, blanks string) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(blanks, r) })
}

func FuzzFields(f *testing.F) {
	f.Add([]byte("foo bar\t 5\r"))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, sep := range []byte{' ', '\r'} {
			want := naiveFields(line, " \t"+string(sep))
			for size := 1; size < 6; size++ {
				got := make([][]byte, size)
				n := fields(line, got, sep)
				if n != min(len(want), size) {
					t.Fatalf("%q at %q: %d fields into %d, want %d", line, sep, n, size, len(want))
				}
				for j := range n {
					if !bytes.Equal(got[j], want[j]) {
						t.Fatalf("%q at %q: field %d is %q, want %q", line, sep, j, got[j], want[j])
					}
				}
			}
		}
	})
}
