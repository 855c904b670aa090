package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

// someConfigurations are as different as can be.
func someConfigurations() []Options {
	limit := func(n int64) config.Limit { return config.Limit{Set: true, N: n} }
	rules := func(allow ...string) *config.Permissions {
		p := &config.Permissions{Publish: &config.SubjectPermission{}, AllowResponses: &config.ResponsePermission{Max: 2, Expires: time.Second}}
		for _, s := range allow {
			p.Publish.Allow = append(p.Publish.Allow, config.Subject{Text: s})
		}
		return p
	}
	service := config.Export{
		Kind: config.Service, Subject: "ask.*", Public: true, ResponseThreshold: time.Second,
		Latency: &config.Latency{Sampling: 50, Subject: "took"},
	}
	east := config.Account{
		Name: "east", Limits: config.Limits{MaxConnections: limit(3)}, MsgTrace: &config.MsgTrace{Dest: "traced", Sampling: 10},
		Users:    []config.User{{Name: "e", Password: "1", Permissions: rules("a", "b.>")}},
		Exports:  []config.Export{service, {Kind: config.Stream, Subject: "news.>", Accounts: []string{"west"}}},
		Mappings: []config.Mapping{{Subject: "m", Destinations: []config.Destination{{Subject: "n.x", Weight: 30}, {Subject: "m", Weight: 0}}}},
	}
	west := config.Account{
		Name: "west", Users: []config.User{{Name: "w", Password: "2", ConnectionTypes: []string{"STANDARD"}}}, DefaultPermissions: rules("d"),
		Imports: []config.Import{
			{Kind: config.Service, Account: "east", Subject: "ask.*", To: "beg.$1", Share: true},
			{Kind: config.Stream, Account: "east", Subject: "news.*", Prefix: "from.east"},
		},
	}
	other := east
	other.Exports = []config.Export{{Kind: config.Service, Subject: "ask.*", Public: true, ResponseType: config.Streamed, ResponseThreshold: time.Minute}}
	other.Mappings, other.MsgTrace, other.Limits = nil, nil, config.Limits{MaxPayload: limit(-1)}
	plain := west
	plain.Imports, plain.DefaultPermissions = nil, nil
	asks := plain
	asks.Imports = []config.Import{{Kind: config.Service, Account: "east", Subject: "ask.me"}}
	return []Options{
		{},
		{User: "u", Pass: "p", PingInterval: time.Minute, MaxPayload: 100},
		{Token: "t", NoHeaders: true, ClientAdvertise: "example.com:7"},
		{Accounts: []config.Account{east, west}, MaxPending: 1 << 20},
		{Accounts: []config.Account{other, plain}, NoAuthUser: config.Located{Text: "w"}},
		{Accounts: []config.Account{asks, other}, WriteDeadline: time.Second},
		{Accounts: []config.Account{plain}, Users: []config.User{{Name: "g", Password: "3"}}, DefaultPermissions: rules("x")},
	}
}

// TestReloadIsARestart: whatever was configured before, what is in force after a reload is what a server that is started with
// that configuration has in force.
func TestReloadIsARestart(t *testing.T) {
	all := someConfigurations()
	for i := range all {
		for j := range all {
			e, _ := started(t, all[i])
			reload(e, all[j])
			fresh, _ := started(t, all[j])
			if got, want := e.InForce(), fresh.InForce(); got != want {
				t.Errorf("configuration %d after %d:\n%s\nat a start:\n%s", j, i, got, want)
			}
			reload(e, all[i])
			if again, _ := started(t, all[i]); e.InForce() != again.InForce() {
				t.Errorf("configuration %d after %d after itself differs", i, j)
			}
			if i != j && e.InForce() == fresh.InForce() {
				t.Errorf("configurations %d and %d look the same", i, j)
			}
		}
	}
	if e, _ := started(t, all[3]); !strings.Contains(e.InForce(), "service ask.* of east as beg.*") || !strings.Contains(e.InForce(), "mapping m from 0% 1 n.x from 30%") {
		t.Errorf("it does not say everything:\n%s", e.InForce())
	}
}
