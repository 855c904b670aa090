package sim

import (
	"testing"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// Every configuration that is drawn is one that a server takes.
func TestTenantsAreValid(t *testing.T) {
	runs, versions, imports := 0, 0, 0
	for seed := range uint64(400) {
		c := drawConfig(decision.FromSeed(seed))
		if c.tenants == nil {
			continue
		}
		runs++
		for v, r := range c.tenants.versions {
			versions++
			for i := range r.Accounts {
				imports += len(r.Accounts[i].Imports)
			}
			o := c.options(v)
			for _, err := range append(engine.CheckAccounts(o.Accounts, o.SystemAccount), engine.CheckUsers(&o)...) {
				t.Errorf("seed %d, version %d: %v", seed, v, err)
			}
		}
	}
	t.Logf("%d of 400 runs have accounts, with %d configurations and %d imports", runs, versions, imports)
	if runs < 80 || runs > 200 || imports < versions {
		t.Error("not as many as meant")
	}
}
