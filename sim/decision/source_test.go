package decision

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ask is one question to a source.
type ask struct {
	key     Key
	how     int // 0: Below, 1: Range, 2: Chance, 3: Pick
	n       uint64
	weights []uint32
}

func (a ask) of(s *Source) int64 {
	switch a.how {
	case 0:
		return int64(s.Below(a.key, a.n))
	case 1:
		return s.Range(a.key, -3, int64(a.n)-4)
	case 2:
		if s.Chance(a.key, uint32(a.n)*20_000) {
			return 1
		}
		return 0
	}
	return int64(s.Pick(a.key, a.weights))
}

// least is the default answer.
func (a ask) least() int64 {
	if a.how == 1 {
		return -3
	}
	return 0
}

func (a ask) most() int64 {
	switch a.how {
	case 0:
		return int64(a.n) - 1
	case 1:
		return int64(a.n) - 4
	case 2:
		return 1
	}
	return int64(len(a.weights)) - 1
}

// asks draws questions with keys of their own.
var asks = rapid.Custom(func(t *rapid.T) []ask {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) ask {
		a := ask{how: rapid.IntRange(0, 3).Draw(t, "how"), n: rapid.Uint64Range(1, 50).Draw(t, "n")}
		a.key = Key{
			Kind:    Kind(rapid.Uint16Range(1, uint16(numKinds)-1).Draw(t, "kind")),
			Actor:   Of(Class(rapid.Uint8Range(0, uint8(nClasses)-1).Draw(t, "class")), rapid.Uint64Range(0, 5).Draw(t, "index")),
			Purpose: rapid.Uint32Range(0, 3).Draw(t, "purpose"),
			N:       rapid.Uint64Range(0, 1000).Draw(t, "occurrence"),
		}
		a.weights = append(rapid.SliceOfN(rapid.Uint32Range(0, 9), 0, 5).Draw(t, "weights"), 1)
		return a
	}), 0, 40, func(a ask) Key { return a.key }).Draw(t, "asks")
})

func answers(s *Source, asks []ask) []int64 {
	out := make([]int64, len(asks))
	for i, a := range asks {
		out[i] = a.of(s)
	}
	return out
}

// The promises of the package: an answer depends on seed and key alone, and a log repeats its run.
func TestAnswersDependOnTheKeyAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, all := rapid.Uint64().Draw(t, "seed"), asks.Draw(t, "all")
		s := FromSeed(seed)
		s.Keep()
		first := answers(s, all)
		want := uint64(len(all))
		for _, a := range all {
			if a.how == 1 && a.n == 1 { // a range of one number leaves no choice
				want--
			}
		}
		if s.Made() != want {
			t.Fatalf("%d choices, want %d", s.Made(), want)
		}
		for i, a := range all {
			if first[i] < a.least() || first[i] > a.most() {
				t.Fatalf("%+v: %d", a, first[i])
			}
			if alone := a.of(FromSeed(seed)); alone != first[i] {
				t.Fatalf("%+v: %d among others, %d alone", a, first[i], alone)
			}
		}
		log := s.Records()
		for _, r := range log {
			if r.Value == 0 || r.Value >= r.Range {
				t.Fatalf("recorded %+v", r)
			}
		}
		again := FromLog(log)
		again.Keep()
		if got := answers(again, all); !slices.Equal(got, first) {
			t.Fatalf("the log gives %v, the seed %v", got, first)
		}
		if !slices.Equal(again.Records(), log) || len(again.Drifted(log)) != 0 {
			t.Fatalf("the log of the log is %v, drift %v", again.Records(), again.Drifted(log))
		}
		if len(log) == 0 {
			return
		}
		// Without one of its choices, that one is made by default and the others stay.
		cut := rapid.IntRange(0, len(log)-1).Draw(t, "cut")
		got := answers(FromLog(slices.Delete(slices.Clone(log), cut, cut+1)), all)
		for i, a := range all {
			want := first[i]
			if a.key == log[cut].Key {
				want = a.least()
			}
			if got[i] != want {
				t.Fatalf("without %v: %+v gives %d, want %d", log[cut], a, got[i], want)
			}
		}
	})
}

func TestAnEmptyLogIsAllDefaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := asks.Draw(t, "all")
		for i, got := range answers(FromLog(nil), all) {
			if got != all[i].least() {
				t.Fatalf("%+v: %d", all[i], got)
			}
		}
	})
}

func TestDriftIsFound(t *testing.T) {
	key := func(n uint64) Key { return Key{Kind: SimOperation, Actor: Of(Client, 1), N: n} }
	log := []Record{{Key: key(1), Range: 9, Value: 8}, {Key: key(2), Range: 9, Value: 8}, {Key: key(3), Range: 9, Value: 8}}
	s := FromLog(log)
	s.Keep()
	if got := []uint64{s.Below(key(1), 9), s.Below(key(2), 4)}; !slices.Equal(got, []uint64{8, 3}) {
		t.Errorf("got %v", got)
	}
	drift := s.Drifted(log)
	if len(drift) != 2 || drift[0].Record != log[1] || drift[1].Record != log[2] {
		t.Errorf("drift: %v", drift)
	}
	if want := []Record{{Key: key(1), Range: 9, Value: 8}, {Key: key(2), Range: 4, Value: 3}}; !slices.Equal(s.Records(), want) {
		t.Errorf("recorded %v", s.Records())
	}
}

// Each answer is about as frequent as it should be, over occurrences of one key and over seeds.
func TestAnswersAreSpread(t *testing.T) {
	const n = 100_000
	weights := []uint32{1, 0, 3}
	for name, of := range map[string]func(i uint64) (*Source, Key){
		"occurrences": func(i uint64) (*Source, Key) { return FromSeed(7), Key{Kind: NetStall, N: i} },
		"seeds":       func(i uint64) (*Source, Key) { return FromSeed(i), Key{Kind: NetStall} },
		"actors":      func(i uint64) (*Source, Key) { return FromSeed(7), Key{Kind: NetStall, Actor: Of(Link, i)} },
		"purposes":    func(i uint64) (*Source, Key) { return FromSeed(7), Key{Kind: NetStall, Purpose: uint32(i)} },
	} { //natsd:orderfree each is tested for itself
		var below [5]int
		var picked [3]int
		chances := 0
		for i := range uint64(n) {
			s, k := of(i)
			below[s.Below(k, 5)]++
			picked[s.Pick(k, weights)]++
			if s.Chance(k, 10_000) {
				chances++
			}
		}
		near := func(what string, got, want int) {
			if got < want*9/10 || got > want*11/10 {
				t.Errorf("%s: %s %d times, want about %d", name, what, got, want)
			}
		}
		for _, got := range below {
			near("below", got, n/5)
		}
		near("the first of weights", picked[0], n/4)
		near("the last of weights", picked[2], n*3/4)
		if picked[1] != 0 {
			t.Errorf("%s: weight 0 was picked", name)
		}
		near("chance", chances, n/100)
	}
}

func TestChanceAtItsEnds(t *testing.T) {
	for i := range uint64(1000) {
		s, k := FromSeed(3), Key{Kind: NetReset, N: i}
		if s.Chance(k, 0) || !s.Chance(k, 1_000_000) {
			t.Fatalf("occurrence %d", i)
		}
	}
}

func TestActorsAreTakenApart(t *testing.T) {
	for c := range nClasses {
		for _, index := range []uint64{0, 1, 1<<40 - 1} {
			if a := Of(c, index); a.Class() != c || a.Index() != index {
				t.Errorf("%v:%d became %v", c, index, a)
			}
		}
	}
}

// The hash is written down: seeds that once failed are kept and must go on meaning the same.
func TestNoiseIsOfTheKey(t *testing.T) {
	a, b := Key{Kind: SimDetail, N: 1}, Key{Kind: SimDetail, N: 2}
	if got := Noise(a); got != 0x28d839db43766b68 || got == Noise(b) {
		t.Errorf("noise is %#x and %#x", got, Noise(b))
	}
}

// What a choice is narrowed to is all that it gives, evenly, and a log repeats it without being narrowed.
func TestAmongNarrowsAChoice(t *testing.T) {
	const n = 1000
	var below [8]int
	var log []Record
	for i := range uint64(n) {
		s := FromSeed(5)
		k := Key{Kind: SimConfig, Purpose: 1, N: i}
		chance, pick, other := Key{Kind: SimConfig, Purpose: 2, N: i}, Key{Kind: SimConfig, Purpose: 3, N: i}, Key{Kind: SimConfig, Purpose: 4, N: i}
		s.Among(k, 3, 6)
		s.Among(chance, 1)
		s.Among(pick, 1, 9)
		s.Keep()
		below[s.Below(k, 8)]++
		if !s.Chance(chance, 0) {
			t.Fatalf("occurrence %d: a chance that is certain", i)
		}
		if got := s.Pick(pick, []uint32{1, 0, 1}); got != 1 && got != 2 {
			t.Fatalf("occurrence %d: picked %d", i, got)
		}
		if got, want := s.Below(other, 1000), FromSeed(5).Below(other, 1000); got != want {
			t.Fatalf("occurrence %d: another choice became %d, not %d", i, got, want)
		}
		log = append(log, s.Records()...)
	}
	if below[3] < n*4/10 || below[6] < n*4/10 || below[3]+below[6] != n {
		t.Errorf("%v", below)
	}
	again := FromLog(log)
	for _, r := range log {
		if got := again.Below(r.Key, r.Range); got != r.Value {
			t.Fatalf("%+v is repeated as %d", r, got)
		}
	}
}

func TestALogIsNotNarrowed(t *testing.T) {
	k := Key{Kind: SimConfig, Purpose: 1}
	s := FromLog([]Record{{Key: k, Range: 8, Value: 5}})
	s.Among(k, 2)
	if got := s.Below(k, 8); got != 5 {
		t.Errorf("%d", got)
	}
}
