package shrink

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/sim/decision"
)

func record(kind decision.Kind, actor decision.Actor, n, value uint64) decision.Record {
	return decision.Record{Key: decision.Key{Kind: kind, Actor: actor, N: n}, Range: 1 << 20, Value: value}
}

// bigLog is a log as a run of a minute makes it: clients with operations, faults of links, numbers everywhere.
func bigLog(seed uint64) []decision.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	var log []decision.Record
	for i := range uint64(12) {
		client := decision.Of(decision.Client, i)
		log = append(log, record(decision.SimClient, client, 0, 1+rng.Uint64N(5)), record(decision.SimTrait, client, 0, 1+rng.Uint64N(9)))
		for n := range uint64(150) {
			log = append(log, record(decision.SimOperation, client, n, 1+rng.Uint64N(7)), record(decision.SimDetail, client, n, 1+rng.Uint64N(1000)))
		}
		link := decision.Of(decision.Link, i)
		for n := range uint64(100) {
			log = append(log, record(decision.NetLatency, link, n, 1+rng.Uint64N(1<<19)))
			if n%20 == 0 {
				log = append(log, record(decision.NetStall, link, n, 1))
			}
		}
	}
	for i := range uint64(8) {
		log = append(log, record(decision.SimConfig, decision.Of(decision.World, 0), i, 1+rng.Uint64N(100)))
	}
	return log
}

// planted is a world in which a property fails exactly if some decisions were made, a number is large enough and there is
// time. Details of operations that were not made are not asked for.
type planted struct {
	needs   []decision.Key
	number  decision.Key
	atLeast uint64
	time    time.Duration
}

func (p *planted) run(records []decision.Record, d time.Duration) Outcome {
	there := map[decision.Key]uint64{}
	for _, r := range records {
		there[r.Key] = r.Value
	}
	var made []decision.Record
	for _, r := range records {
		k := r.Key
		if k.Kind == decision.SimDetail || k.Kind == decision.SimTrait || k.Kind == decision.SimOperation {
			if there[decision.Key{Kind: decision.SimClient, Actor: k.Actor}] == 0 {
				continue
			}
			if k.Kind == decision.SimDetail && there[decision.Key{Kind: decision.SimOperation, Actor: k.Actor, N: k.N}] == 0 {
				continue
			}
		}
		made = append(made, r)
	}
	out := Outcome{Records: made, Property: "planted"}
	for _, k := range p.needs {
		if there[k] == 0 {
			out.Property = "another"
		}
	}
	if there[p.number] < p.atLeast || d < p.time {
		out.Property = ""
	}
	return out
}

func TestAPlantedFailureBecomesSmall(t *testing.T) {
	for seed := range uint64(6) {
		log := bigLog(seed)
		rng := rand.New(rand.NewPCG(seed, 2))
		p := &planted{time: time.Duration(1+rng.IntN(50)) * time.Second}
		clients := map[decision.Actor]bool{}
		for len(p.needs) < 6 {
			r := log[rng.IntN(len(log))]
			if r.Kind == decision.SimDetail {
				continue
			}
			p.needs = append(p.needs, r.Key)
			if r.Actor.Class() == decision.Client {
				p.needs = append(p.needs, decision.Key{Kind: decision.SimClient, Actor: r.Actor})
				clients[r.Actor] = true
			}
		}
		for p.atLeast == 0 {
			if r := log[rng.IntN(len(log))]; r.Kind == decision.NetLatency {
				p.number, p.atLeast = r.Key, r.Value/2+1
			}
		}
		want := map[decision.Key]bool{p.number: true}
		for _, k := range p.needs {
			want[k] = true
		}
		got := Shrink(log, time.Minute, p.run, Options{})
		if !got.Done || got.Property != "planted" || len(got.Records) != len(want) {
			t.Errorf("seed %d: %d decisions left of %d, want %d; %d runs, done: %v", seed, len(got.Records), len(log), len(want), got.Runs, got.Done)
		}
		if got.For < p.time || got.For >= p.time+10*time.Millisecond {
			t.Errorf("seed %d: time %v, want %v", seed, got.For, p.time)
		}
		for _, r := range got.Records {
			if r.Key == p.number && r.Value != p.atLeast {
				t.Errorf("seed %d: the number is %d, want %d", seed, r.Value, p.atLeast)
			}
		}
		if again := Shrink(log, time.Minute, p.run, Options{}); !slices.Equal(again.Records, got.Records) || again.For != got.For || again.Runs != got.Runs {
			t.Errorf("seed %d: shrunk twice, with different results", seed)
		}
		t.Logf("seed %d: %d decisions to %d in %d runs", seed, len(log), len(got.Records), got.Runs)
	}
}

func TestTheResultFailsLikeTheWholeAndIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 40).Draw(t, "records")
		var log []decision.Record
		for i := range n {
			kind := rapid.SampledFrom([]decision.Kind{decision.NetStall, decision.SimOperation, decision.SimConfig, decision.SimClient, decision.NetLatency}).Draw(t, "kind")
			log = append(log, record(kind, decision.Of(decision.Client, i%3), i, rapid.Uint64Range(1, 1000).Draw(t, "value")))
		}
		// It fails if of some sets of decisions at least one is there as a whole.
		sets := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, n-1), 1, 4), 1, 3).Draw(t, "sets")
		run := func(records []decision.Record, d time.Duration) Outcome {
			there := map[uint64]bool{}
			for _, r := range records {
				there[r.N] = true
			}
			for _, set := range sets {
				all := true
				for _, i := range set {
					all = all && there[i]
				}
				if all {
					return Outcome{Property: "p"}
				}
			}
			return Outcome{}
		}
		got := Shrink(log, time.Second, run, Options{})
		if got.Property != "p" || !got.Done || run(got.Records, got.For).Property != "p" {
			t.Fatalf("%+v", got)
		}
		for i := range got.Records {
			less := append(append([]decision.Record(nil), got.Records[:i]...), got.Records[i+1:]...)
			if run(less, got.For).Property == "p" {
				t.Fatalf("%v is not needed", got.Records[i])
			}
		}
	})
}

func TestTheBudgetHolds(t *testing.T) {
	runs := 0
	got := Shrink(bigLog(1), time.Minute, func(records []decision.Record, d time.Duration) Outcome {
		runs++
		return Outcome{Property: "p"}
	}, Options{Budget: 7})
	if runs > 7 || got.Runs != runs {
		t.Errorf("%d runs, said %d", runs, got.Runs)
	}
}

func TestARunThatDoesNotFailIsLeftAlone(t *testing.T) {
	log := bigLog(1)
	got := Shrink(log, time.Minute, func([]decision.Record, time.Duration) Outcome { return Outcome{} }, Options{})
	if got.Property != "" || len(got.Records) != len(log) || got.Runs != 1 {
		t.Errorf("%q, %d records, %d runs", got.Property, len(got.Records), got.Runs)
	}
}

func TestAScenarioIsTold(t *testing.T) {
	got := strings.Join(Scenario([]decision.Record{
		record(decision.NetStall, decision.Of(decision.Link, 3), 4, 1),
		record(decision.SimConfig, decision.Of(decision.World, 0), 1, 9),
		record(decision.SimOperation, decision.Of(decision.Client, 2), 7, 5),
	}, func(r decision.Record) Line {
		switch r.Kind {
		case decision.NetStall:
			return Line{At: 2 * time.Second}
		case decision.SimOperation:
			return Line{At: time.Second, Words: "client 2 publishes"}
		}
		return Line{At: -1}
	}), "\n")
	want := "                world 0, purpose 0, occurrence 1: configuration: 9 of 1048576\n" +
		"            1s  client 2 publishes\n" +
		"            2s  link 3, purpose 0, occurrence 4: the link stalls: 1 of 1048576"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
