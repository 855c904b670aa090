package sim

import (
	"slices"
	"testing"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/model"
)

// Every run that is asked to be about something has that.
func TestARunHasWhatItIsAbout(t *testing.T) {
	has := map[string]func(c *config) bool{
		"accounts":   func(c *config) bool { return c.tenants != nil && c.callout == nil },
		"activation": func(c *config) bool { return c.lenders != nil },
		"allotted":   func(c *config) bool { return c.allotted != nil && c.archive == nil },
		"answers":    func(c *config) bool { return c.tenants != nil && c.tenants.answerers },
		"asking":     func(c *config) bool { return c.asking != nil && c.engine.TurnWork <= 200 },
		"between": func(c *config) bool {
			return c.tenants != nil && slices.ContainsFunc(c.tenants.versions[0].Accounts[0].Exports, func(x model.Export) bool { return x.Subject == betweenSubject })
		},
		"claims":     func(c *config) bool { return c.archive != nil },
		"callout":    func(c *config) bool { return c.callout != nil },
		"crowd":      func(c *config) bool { return c.kinds[kindCrowd] >= 20 && c.engine.TurnWork <= 20 },
		"diamond":    func(c *config) bool { return c.tenants != nil && len(c.tenants.versions[0].Accounts) > 2 },
		"garbage":    func(c *config) bool { return c.tenants != nil && c.kinds[kindGarbage] >= 10 },
		"granting":   func(c *config) bool { return c.granting && len(c.tenants.versions) > 1 },
		"half-close": func(c *config) bool { return c.kinds[kindStorm] >= 10 },
		"moves": func(c *config) bool {
			return c.tenants != nil && c.tenants.upheaval == moved && c.engine.TurnWork == movedTurns[0]
		},
		"overheard": func(c *config) bool {
			return c.tenants != nil && c.tenants.overheard && len(c.tenants.versions) > 1 && c.kinds[kindEar] > 0
		},
		"passwords": func(c *config) bool {
			return (c.auth == authHashedUser || c.auth == authHashedToken) && c.kinds[kindBadAuth] >= 10
		},
		"permissions": func(c *config) bool { return c.tenants != nil && c.tenants.upheaval == permitted },
		"proxy":       func(c *config) bool { return c.engine.ProxyProtocol },
		"reload":      func(c *config) bool { return c.tenants != nil && len(c.tenants.versions) > 1 },
		"unanswered":  func(c *config) bool { return c.unanswered && c.kinds[kindEar] > 0 },
		"terms":       func(c *config) bool { return len(c.terms) > 1 && c.auth.required() },
		"slow":        func(c *config) bool { return c.kinds[kindSlow] >= 10 && c.engine.StallBytes <= 2048 },
	}
	for _, f := range Foci() {
		if has[f.Name] == nil || f.About == "" {
			t.Fatalf("%q: nothing says what it is about", f.Name)
		}
		for seed := range uint64(100) {
			source := decision.FromSeed(seed)
			draw{source}.focus([]Focus{f})
			if c := drawConfig(source); !has[f.Name](&c) {
				t.Errorf("%s, seed %d: it lacks that", f.Name, seed)
			}
		}
	}
	if len(has) != len(Foci()) {
		t.Errorf("%d foci, %d are known here", len(Foci()), len(has))
	}
}

// The choices of a run with a focus, made again from its log, give the same run: no focus is needed for that.
func TestReplayOfALogOfAFocus(t *testing.T) {
	for i, f := range Foci() {
		a := Run(Options{Seed: uint64(i), For: sampleFor, With: []Focus{f}, Keep: true})
		b := Run(Options{Records: a.Records, For: sampleFor})
		if a.Hash != b.Hash || a.Failure != nil || len(b.Drift) > 0 {
			t.Errorf("%s: hash %016x, replayed %016x, failure %v, drift %v", f.Name, a.Hash, b.Hash, a.Failure, b.Drift)
		}
	}
}

func TestFociAreFound(t *testing.T) {
	if found, err := FindFoci(""); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := FindFoci("garbage,reload"); err != nil || len(found) != 2 || found[1].Name != "reload" {
		t.Errorf("%v, %v", found, err)
	}
	for _, bad := range []string{"nonsense", "garbage,", "passwords,accounts", "activation,callout"} {
		if _, err := FindFoci(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
