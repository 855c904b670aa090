package sim

import (
	"testing"
	"time"
)

func TestSameSeedSameHash(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		o := Options{Seed: seed, For: 10 * time.Second}
		a, b := Run(o), Run(o)
		if a.Hash != b.Hash || a.Events != b.Events {
			t.Errorf("seed %d: %016x after %d events, then %016x after %d", seed, a.Hash, a.Events, b.Hash, b.Events)
		}
	}
}
