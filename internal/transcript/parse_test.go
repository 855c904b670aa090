package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReadsEveryKindOfLine(t *testing.T) {
	text := `
# for the reader
scenario all of it
config max_payload=10 user=u
whole
conn A
dial B7 window=100
refused C
A> "x" ` + "`y\"`" + ` "z"*3
A< "\r\n\x00"
A<~ INFO \{.*\}\x20
A<all "a" | "b" "c"
A<one "a"|"b"
natsd: A< "n"
nats-server: A closed
A silent
A cut
A ?
A half-close
A leave
advance 1500ms
signal USR2
exit 0

scenario another
whole-for-peer
conn A
`
	scenarios, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(scenarios) != 2 || scenarios[0].Name != "all of it" || !scenarios[0].Whole || !scenarios[1].WholeForPeer {
		t.Fatalf("scenarios %+v", scenarios)
	}
	sc := scenarios[0]
	if len(sc.Config) != 2 || sc.Config[0] != (Setting{"max_payload", "10"}) {
		t.Errorf("config %v", sc.Config)
	}
	ops := []Op{OpConnect, OpDial, OpRefused, OpSend, OpExpect, OpExpectLine, OpExpectAll, OpExpectOne, OpExpect,
		OpClosed, OpSilent, OpCut, OpRecord, OpHalfClose, OpLeave, OpAdvance, OpSignal, OpExit}
	for i, op := range ops {
		if sc.Steps[i].Op != op {
			t.Errorf("step %d is %d, not %d", i, sc.Steps[i].Op, op)
		}
	}
	if got := string(sc.Steps[3].Data); got != `xy"zzz` {
		t.Errorf("data %q", got)
	}
	if sc.Steps[1].Window != 100 || sc.Steps[1].Conn != "B7" || sc.Steps[15].Duration.Milliseconds() != 1500 {
		t.Errorf("steps %+v", sc.Steps)
	}
	if own := sc.For(NatsServer); len(own.Steps) != len(sc.Steps)-1 || own.Steps[8].Op != OpClosed {
		t.Errorf("for nats-server: %+v", own.Steps)
	}
}

func TestParseNamesFileAndLineOfAnError(t *testing.T) {
	for _, line := range []string{
		"conn", "conn A-B", "conn A window=x", "conn A window=0", "dial A B C", "A> ", "A> x", "A> \"x", "A> \"x\"*", "A> \"x\" y",
		"A< \"x\" | \"y\"", "A<~ (", "A<one \"x\" |", "A what", "A closed now", "B> \"x\"", "advance soon", "signal KILL",
		"exit x", "config x=1", "scenario", "A> \"xx\"*99999999", "natsd: what", "conn A",
	} {
		text := "scenario s\nconn A\n" + line + "\n"
		_, err := Parse("f", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "f:3: ") {
			t.Errorf("%q: error %v", line, err)
		}
	}
	for _, text := range []string{"conn A\n", "scenario s\nscenario t\nconn A\n", "scenario s\nconfig x\nconn A\n"} {
		if _, err := Parse("f", []byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"PING\r\n", "a", "\n", `{"a":1}` + "\r\n", "`", `"`, "\xff", strings.Repeat("x", 50)})
		data := []byte(strings.Join(rapid.SliceOf(line).Draw(t, "lines"), ""))
		if len(data) == 0 {
			return
		}
		back, err := parseBytes(Quote(data))
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q became %s: %q, %v", data, Quote(data), back, err)
		}
	})
}

func TestQuoteFoldsRepetitions(t *testing.T) {
	for in, want := range map[string]string{ //natsd:orderfree each case stands alone
		strings.Repeat("PONG\r\n", 5):              `"PONG\r\n"*5`,
		"MSG a 1 50\r\n" + strings.Repeat("x", 50): `"MSG a 1 50\r\n" "x"*50`,
		"CONNECT {\"a\":1}\r\nPING\r\n":            "`CONNECT {\"a\":1}` \"\\r\\n\" \"PING\\r\\n\"",
		"":                                         `""`,
		"a" + strings.Repeat("b", 45) + "c\r\nd\r\ne": `"a" "b"*45 "c\r\n" "d\r\n" "e"`,
	} {
		if got := Quote([]byte(in)); got != want {
			t.Errorf("%q became %s, not %s", in, got, want)
		}
	}
}

func TestAllTranscriptsAreComplete(t *testing.T) {
	names, err := filepath.Glob("../../engine/testdata/protocol/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scenarios, err := Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, sc := range scenarios {
			if seen[sc.Name] {
				t.Errorf("%s:%d: a second scenario %q", name, sc.Line, sc.Name)
			}
			seen[sc.Name] = true
			checks := 0
			for _, step := range sc.Steps {
				if step.expects() {
					checks++
				}
				if step.Op == OpRecord {
					t.Errorf("%s:%d: not recorded", name, step.Line)
				}
			}
			if checks == 0 {
				t.Errorf("%s:%d: %q expects nothing", name, sc.Line, sc.Name)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("scenario s\nconfig a=1\nconn A\nA> \"x\"*3 `y`\nA<one \"a\" | \"b\"\nadvance 1s\nA closed\n"))
	f.Add([]byte("scenario s\nconn A\nnatsd: A<~ a.*\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		scenarios, err := Parse("f", data)
		if err == nil && len(scenarios) == 0 && bytes.Contains(data, []byte("\nconn")) {
			t.Error("steps without a scenario were accepted")
		}
	})
}
