package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What clients get must not depend on how the network cuts what they send: the same input whole, byte by byte and in
// random pieces has the same output, byte for byte, and ends the same connections.

// step is something that one client sends.
type step struct {
	conn int
	data string
}

// segmentOptions are worth trying with cut input: small limits, slices of every size.
func segmentOptions(t *rapid.T) Options {
	o := Options{
		MaxControlLine:   rapid.SampledFrom([]int{4096, 64}).Draw(t, "max_control_line"),
		MaxPayload:       rapid.SampledFrom([]int{1 << 20, 100}).Draw(t, "max_payload"),
		MaxSubscriptions: rapid.SampledFrom([]int{0, 3}).Draw(t, "max_subscriptions"),
		TurnWork:         rapid.SampledFrom([]int{0, 1, 3, 40}).Draw(t, "turn"),
		Trace:            rapid.Bool().Draw(t, "trace"),
		Debug:            true,
	}
	switch rapid.IntRange(0, 5).Draw(t, "auth") {
	case 0:
		o.User, o.Pass = "u", "p"
	case 1:
		o.User, o.Pass = "u", bcryptOfP
	}
	return o
}

// bcryptOfP is a bcrypt hash of "p", of the lowest cost.
const bcryptOfP = "$2a$04$idEwTwp8h.zQcL3W/wkn7.9IhHh3npG.2WfJyl0kwgmTif8xx2Dfa"

var segmentLines = []string{
	"CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"user\":\"u\",\"pass\":\"p\"}\r\n",
	"connect\t {\"verbose\":true,\"user\":\"u\",\"pass\":\"p\"}\r\n",
	"CONNECT{\"protocol\":1,\"echo\":false,\"verbose\":false,\"pedantic\":false,\"user\":\"u\",\"pass\":\"p\"}\n",
	"SUB a 1\r\n", "sub\ta.>  2 \r\n", "SUB a q 3\r\n", "SUB a.* q 4\r\n", "SUB > 5\r\n", "SUB a..b 6\r\n", "SUB 7\r\n",
	"UNSUB 1\r\n", "UNSUB 2 3\r\n", "unsub 3 1\r\n", "UNSUB\t9\n",
	"PUB a 5\r\nhello\r\n", "PUB a.b r 0\r\n\r\n", "pub  a\t3\r\nx\ny\r\n", "PUB a. 1\r\nx\r\n", "PUB nobody a 2\r\n\r\n\r\n",
	"PUB a 120\r\n" + strings.Repeat("p", 120) + "\r\n", "PUB a 9000\r\n" + strings.Repeat("q", 9000) + "\r\n",
	"HPUB a 12 17\r\nNATS/1.0\r\n\r\nhello\r\n", "HPUB a r 12 12\r\nNATS/1.0\r\n\r\n\r\n", "hpub a 0 2\r\nhi\r\n",
	"PING\r\n", "ping and more\r\n", "PONG\r\n", "PONG" + strings.Repeat("x", 100) + "\r\n", "+OK\r\n", "+OK x\r\n", "INFO {}\r\n",
	"-ERR 'x'\r\n", "FOO\r\n", "\r\n", "PUB a 5\r\nhelloXX", "PUB a x\r\n", "SUB " + strings.Repeat("y", 70) + " 1\r\n", "P", "\r", "\n",
	"PUB a 1\r", "SUB \na 9\r\n", "SUB  \n", "UNSUB \n1\r\n", "CONNECT\n", "INFO \n{}\r\n", "PUB      a       1      \r\nz\r\n", "SUB" + strings.Repeat(" ", 90) + "a 8\r\n",
}

func segmentSteps(t *rapid.T) []step {
	conns := rapid.IntRange(1, 4).Draw(t, "conns")
	var steps []step
	for i := range conns {
		if rapid.IntRange(0, 5).Draw(t, "greets") > 0 {
			steps = append(steps, step{i, segmentLines[rapid.IntRange(0, 2).Draw(t, "connect")]})
		}
	}
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		s := step{conn: rapid.IntRange(0, conns-1).Draw(t, "conn")}
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			line := []byte(rapid.SampledFrom(segmentLines).Draw(t, "line"))
			switch rapid.IntRange(0, 20).Draw(t, "spoil") {
			case 0:
				at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
				line = append(line[:at], line[at+1:]...)
			case 1:
				line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
			s.data += string(line)
		}
		steps = append(steps, s)
	}
	return steps
}

// play runs the steps on a fresh engine, each cut into pieces, and returns what each client got and whether it was closed.
func play(t rapid.TB, o Options, steps []step, cut func(string) []string) []string {
	e, w := started(t, o)
	var conns []ConnID
	for _, s := range steps {
		for s.conn >= len(conns) {
			conns = append(conns, accept(e))
		}
		c := conns[s.conn]
		for _, piece := range cut(s.data) {
			if !w.gone[c] {
				say(e, c, piece)
			}
			w.settle(t, e)
			for len(w.jobs) > 0 {
				w.finishJobs(e)
				w.settle(t, e)
			}
		}
	}
	var got []string
	for _, c := range conns {
		got = append(got, fmt.Sprintf("%s\nclosed: %v", w.take(c), w.gone[c] || w.fin[c]))
		if !w.gone[c] {
			turn(e, func() { e.EOF(c) })
		}
	}
	w.left(t, e)
	return got
}

func wholePiece(s string) []string { return []string{s} }

func bytePieces(s string) (pieces []string) {
	for i := range len(s) {
		pieces = append(pieces, s[i:i+1])
	}
	return pieces
}

// randomPieces cuts at random places, few or many.
func randomPieces(seed uint64) func(string) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(s string) (pieces []string) {
		for len(s) > 0 {
			n := 1 + rng.IntN(min(len(s), 1<<rng.IntN(14)))
			pieces, s = append(pieces, s[:n]), s[n:]
		}
		return pieces
	}
}

func compareCuts(t rapid.TB, o Options, steps []step, seed uint64) {
	want := play(t, o, steps, wholePiece)
	for i, cut := range []func(string) []string{bytePieces, randomPieces(seed)} {
		name := [...]string{"byte by byte", "in random pieces"}[i]
		got := play(t, o, steps, cut)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("client %d got\n%q\n%s and\n%q\nwhole; sent was %q", i, got[i], name, want[i], steps)
			}
		}
	}
}

func TestCutsMakeNoDifference(t *testing.T) { rapid.Check(t, cutsMakeNoDifference) }

func FuzzCutsMakeNoDifference(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cutsMakeNoDifference)) }

func cutsMakeNoDifference(t *rapid.T) {
	compareCuts(t, segmentOptions(t), segmentSteps(t), rapid.Uint64().Draw(t, "cuts"))
}

// FuzzInput is the same with bytes of the fuzzer's own.
func FuzzInput(f *testing.F) {
	for _, line := range segmentLines {
		f.Add([]byte(line+"PING\r\n"), uint8(0), uint64(0))
	}
	f.Add([]byte("SUB a 1\r\nPUB a 3\r\nabc\r\nHPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\nUNSUB 1\r\n"), uint8(3), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, turnWork uint8, cuts uint64) {
		if len(data) > 5000 {
			return // seconds of single bytes
		}
		steps := []step{{1, segmentLines[0] + "SUB > 1\r\nSUB a.* q 2\r\n"}, {0, segmentLines[0]}, {0, string(data)}}
		compareCuts(t, Options{MaxControlLine: 100, MaxPayload: 1000, TurnWork: int(turnWork)}, steps, cuts)
	})
}
