package decision

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestALogIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &Log{
			Seed:     rapid.Uint64().Draw(t, "seed"),
			For:      time.Duration(rapid.Int64Range(1, 1<<50).Draw(t, "for")),
			Commit:   rapid.StringMatching(`[0-9a-f]{0,12}`).Draw(t, "commit"),
			Hash:     rapid.StringMatching(`([0-9a-f]{16})?`).Draw(t, "hash"),
			Property: rapid.SampledFrom([]string{"", "lost", "well-behaved clients stay"}).Draw(t, "property"),
			Note:     rapid.SampledFrom([]string{"", "found it: #3"}).Draw(t, "note"),
		}
		seen := map[Key]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "records") {
			n := rapid.Uint64Min(1).Draw(t, "range")
			r := Record{Range: n, Value: rapid.Uint64Range(0, n-1).Draw(t, "value")}
			r.Kind = Kind(rapid.Uint16Range(1, uint16(numKinds)-1).Draw(t, "kind"))
			r.Purpose = rapid.Uint32().Draw(t, "purpose")
			r.Actor = Of(Class(rapid.Uint8Range(0, uint8(nClasses)-1).Draw(t, "class")), rapid.Uint64Range(0, 1<<40-1).Draw(t, "index"))
			r.N = rapid.Uint64().Draw(t, "n")
			if !seen[r.Key] {
				seen[r.Key] = true
				want.Records = append(want.Records, r)
			}
		}
		got, err := ParseLog(want.AppendText(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Records, want.Records) || !bytes.Equal(got.AppendText(nil), want.AppendText(nil)) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if got.Seed != want.Seed || got.For != want.For || got.Commit != want.Commit || got.Hash != want.Hash ||
			got.Property != want.Property || got.Note != want.Note || len(got.Unknown) != 0 {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestALogLooksLikeThis(t *testing.T) {
	l := &Log{Seed: 7, For: time.Minute, Commit: "abc", Property: "lost", Records: []Record{
		{Key: Key{Kind: NetStall, Actor: Of(Link, 12), Purpose: 1, N: 44}, Range: 2, Value: 1}}}
	want := "natsd decision log 1\nseed 7\nfor 1m0s\ncommit abc\nproperty lost\n\nnet.stall link:12 purpose=1 n=44 value=1 of=2\n"
	if got := string(l.AppendText(nil)); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestWhatNoLongerExistsIsDrift(t *testing.T) {
	l, err := ParseLog([]byte(logFormat + "\n\n# a comment\nnet.telepathy link:1 purpose=0 n=0 value=1 of=2\nnet.stall ghost:1 purpose=0 n=0 value=1 of=2\n" +
		"net.stall link:1 purpose=0 n=0 value=1 of=2"))
	if err != nil || len(l.Records) != 1 || len(l.Unknown) != 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	if l.Unknown[0].Number != 4 || l.Unknown[1].Number != 5 {
		t.Errorf("%+v", l.Unknown)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: "},
		{"natsd decision log 2\n", "line 1: "},
		{logFormat + "\nseed x", "line 2: "},
		{logFormat + "\nfor 3", "line 2: "},
		{logFormat + "\nbogus 3", "line 2: "},
		{logFormat + "\n\nnet.stall link:1 purpose=0 n=0 value=1", "line 3: "},
		{logFormat + "\nnet.stall link purpose=0 n=0 value=1 of=2", "line 2: "},
		{logFormat + "\nnet.stall link:1 purpose=0 n=0 value=2 of=2", "line 2: "},
		{logFormat + "\nnet.stall link:1 n=0 purpose=0 value=1 of=2", "line 2: "},
		{logFormat + "\nnet.stall link:1 purpose=4294967296 n=0 value=1 of=2", "line 2: "},
		{logFormat + strings.Repeat("\nnet.stall link:1 purpose=0 n=0 value=1 of=2", 2), "line 3: "},
	} {
		if _, err := ParseLog([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s…", c.text, err, c.want)
		}
	}
}

func TestKindsHaveNamesOfTheirOwn(t *testing.T) {
	for k := None + 1; k < numKinds; k++ {
		if got, ok := kindNamed(k.String()); !ok || got != k || !strings.Contains(k.String(), ".") {
			t.Errorf("kind %d is named %q", k, k)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte(logFormat + "\nseed 7\nfor 1m0s\n\nnet.stall link:12 purpose=1 n=44 value=1 of=2\n"))
	f.Add([]byte(logFormat + "\nx.y node:0 purpose=0 n=0 value=0 of=1\r\n# z"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLog(text)
		if err != nil {
			return
		}
		again, err := ParseLog(l.AppendText(nil))
		if err != nil {
			t.Fatalf("%q: %v", l.AppendText(nil), err)
		}
		if !slices.Equal(again.Records, l.Records) {
			t.Fatalf("%v became %v", l.Records, again.Records)
		}
	})
}
