package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPressureLosesNothing: receivers that take their bytes a few at a time, in any order, with publishers held back and
// let go in between, get every message of every publisher once and in that publisher's order, up to what a publisher sent
// before it left.
func TestPressureLosesNothing(t *testing.T) { rapid.Check(t, pressureLosesNothing) }

func FuzzPressureLosesNothing(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pressureLosesNothing)) }

func pressureLosesNothing(t *rapid.T) {
	e, w := started(t, Options{
		StallBytes: rapid.SampledFrom([]int{1, 100, 5000, 0}).Draw(t, "stall"),
		StallMax:   rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, -1}).Draw(t, "stall max"),
		TurnWork:   rapid.SampledFrom([]int{0, 1, 2, 10}).Draw(t, "turn"),
	})
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	var subs, pubs []ConnID
	for range 3 {
		c := w.join(e, "SUB a 1\r\nSUB a.* 2\r\n")
		w.settle(t, e)
		w.take(c)
		w.rooms[c] = 0
		subs = append(subs, c)
	}
	for range 3 {
		pubs = append(pubs, w.join(e, ""))
		w.settle(t, e)
	}
	sent := make([]int, len(pubs))
	got := make([]string, len(subs))
	var backlog [3]string // what a publisher has on its way: it sends no more than the server reads
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch i := rng.IntN(3); rng.IntN(3) {
		case 0:
			for range 1 + rng.IntN(5) {
				payload := fmt.Sprintf("%d:%d:%s", i, sent[i], strings.Repeat("x", rng.IntN(2)*rng.IntN(2*shareMin)))
				backlog[i] += fmt.Sprintf("PUB a%s %d\r\n%s\r\n", []string{"", ".b"}[rng.IntN(2)], len(payload), payload)
				sent[i]++
			}
		case 1:
			w.give(e, subs[i], rng.IntN(1<<rng.IntN(16)))
		case 2:
			w.advance(t, e, Instant(rng.IntN(int(50*time.Millisecond))))
		}
		for i, p := range pubs {
			if n := rng.IntN(len(backlog[i]) + 1); n > 0 && !w.paused[p] {
				say(e, p, backlog[i][:n])
				backlog[i] = backlog[i][n:]
			}
		}
		w.settle(t, e)
	}
	for i, p := range pubs { // some leave at once: what they sent before counts
		say(e, p, backlog[i])
		if rng.IntN(2) == 0 {
			turn(e, func() { e.EOF(p) })
		}
	}
	for range 1000 {
		for i, c := range subs {
			w.give(e, c, 10_000)
			got[i] += w.take(c)
		}
		w.settle(t, e)
	}
	for i, text := range got {
		checkPressure(t, i, text, sent)
	}
	for _, c := range append(subs, pubs...) {
		if !w.gone[c] {
			turn(e, func() { e.Closed(c, "") })
		}
	}
	w.left(t, e)
}

// checkPressure checks what one receiver got: all of each publisher, in order.
func checkPressure(t rapid.TB, receiver int, text string, sent []int) {
	next := make([]int, len(sent))
	for text != "" {
		line, rest, ok := strings.Cut(text, "\r\n")
		f := strings.Fields(line)
		if !ok || len(f) != 4 || f[0] != "MSG" || f[2] != map[string]string{"a": "1", "a.b": "2"}[f[1]] {
			t.Fatalf("receiver %d got %.100q", receiver, text)
		}
		var size, from, seq int
		if _, err := fmt.Sscan(f[3], &size); err != nil || size+2 > len(rest) || rest[size:size+2] != "\r\n" {
			t.Fatalf("receiver %d got %.100q", receiver, text)
		}
		if _, err := fmt.Sscanf(rest[:size], "%d:%d:", &from, &seq); err != nil || seq != next[from] {
			t.Fatalf("receiver %d got message %d of publisher %d, want %d", receiver, seq, from, next[from])
		}
		next[from]++
		text = rest[size+2:]
	}
	if !slices.Equal(next, sent) {
		t.Fatalf("receiver %d got %d messages of the publishers, sent were %d", receiver, next, sent)
	}
}
