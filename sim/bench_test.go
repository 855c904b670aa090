package sim

import (
	"testing"
	"time"

	"github.com/natsd/natsd/sim/decision"
)

// steady is one server with ten clients that publish ten messages a second each and have a subscription or two, without
// faults: the load for which the simulator's speed is stated.
func steady(t testing.TB) []decision.Record {
	t.Helper()
	world := decision.Of(decision.World, 0)
	log := []decision.Record{{Key: decision.Key{Kind: decision.SimConfig, Actor: world, Purpose: cfgTokens}, Range: 5, Value: 0}}
	for i := range uint64(10) {
		who := decision.Of(decision.Client, i)
		log = append(log, decision.Record{Key: decision.Key{Kind: decision.SimClient, Actor: who}, Range: uint64(numKinds), Value: uint64(kindMixed)})
		log = append(log, decision.Record{Key: decision.Key{Kind: decision.SimTrait, Actor: who, Purpose: traitPeriod}, Range: 3, Value: 1})
		for n := range uint64(10 * 60) {
			op := opPublish
			if n < 2 {
				op = opSubscribe
			}
			log = append(log,
				decision.Record{Key: decision.Key{Kind: decision.SimOperation, Actor: who, N: n + 5}, Range: uint64(numOperations), Value: uint64(op)},
				decision.Record{Key: decision.Key{Kind: decision.SimDetail, Actor: who, Purpose: detailSubject, N: n + 5}, Range: 12, Value: (n*7 + i) % 12},
				decision.Record{Key: decision.Key{Kind: decision.SimDetail, Actor: who, Purpose: detailSize, N: n + 5}, Range: 65, Value: 40},
			)
		}
	}
	return log
}

// BenchmarkSteady reports simulated seconds per wall second.
func BenchmarkSteady(b *testing.B) {
	log := steady(b)
	b.ReportAllocs()
	var simulated time.Duration
	var events, engineEvents, messages, deliveries uint64
	for b.Loop() {
		r := Run(Options{Records: log, For: time.Minute})
		if r.Failure != nil {
			b.Fatal(r.Failure.Property, r.Failure.What)
		}
		simulated += r.Simulated
		events += r.Events
		engineEvents += r.EngineEvents
		messages += r.Messages
		deliveries += r.Deliveries
	}
	wall := b.Elapsed().Seconds()
	b.ReportMetric(simulated.Seconds()/wall, "simulated-s/s")
	b.ReportMetric(float64(events)/wall, "events/s")
	b.ReportMetric(float64(engineEvents)/wall, "engine-events/s")
	b.ReportMetric(float64(messages)/float64(b.N), "messages/op")
	b.ReportMetric(float64(deliveries)/float64(b.N), "deliveries/op")
}

// BenchmarkSeeds runs seeds as they come.
func BenchmarkSeeds(b *testing.B) {
	b.ReportAllocs()
	var simulated time.Duration
	var events, engineEvents uint64
	seed := uint64(0)
	for b.Loop() {
		seed++
		r := Run(Options{Seed: seed, For: time.Minute})
		simulated += r.Simulated
		events += r.Events
		engineEvents += r.EngineEvents
	}
	wall := b.Elapsed().Seconds()
	b.ReportMetric(simulated.Seconds()/wall, "simulated-s/s")
	b.ReportMetric(float64(events)/wall, "events/s")
	b.ReportMetric(float64(engineEvents)/wall, "engine-events/s")
}
