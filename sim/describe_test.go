package sim

import (
	"testing"
	"time"
)

// Every decision of any run can be told, those of clients at a time.
func TestEveryDecisionCanBeTold(t *testing.T) {
	for seed := range uint64(30) {
		r := Run(Options{Seed: seed, For: 5 * time.Second, Keep: true})
		s := NewStoryteller(r.Records)
		for _, rec := range r.Records {
			at, words := s.Tell(rec)
			if words == "" {
				t.Fatalf("seed %d: nothing to tell of %v", seed, rec)
			}
			if at > 10*time.Minute {
				t.Fatalf("seed %d: %v is told at %v", seed, rec, at)
			}
		}
	}
}

func TestEverythingHasAName(t *testing.T) {
	for op, name := range operationNames {
		if name == "" {
			t.Errorf("operation %d has no name", op)
		}
	}
	for f, name := range faultNames {
		if name == "" {
			t.Errorf("fault %d has no name", f)
		}
	}
	for k, name := range kindNames {
		if name == "" {
			t.Errorf("kind %d of clients has no name", k)
		}
	}
}
