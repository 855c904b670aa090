package model

import (
	"slices"
	"testing"
)

// Whatever Routes say where messages go, Origins say where they came from, and nothing else.
func TestOriginsAreRoutesBackwards(t *testing.T) {
	r := &Rules{Accounts: []Account{
		{Name: "A", Exports: []Export{{Kind: Stream, Subject: "a.>"}, {Kind: Stream, Subject: "b", Accounts: []string{"C"}}}},
		{
			Name:    "B",
			Exports: []Export{{Kind: Stream, Subject: "im.>"}, {Kind: Service, Subject: "*.c"}},
			Mappings: []Mapping{
				{Subject: "a.c", Destinations: []Destination{{"a.b", 30}, {"a.c", 10}}},
				{Subject: "*.c", Destinations: []Destination{{"im.a.$1", 50}}},
			},
			Imports: []Import{{Kind: Stream, Account: "A", Subject: "a.>", Prefix: "im"}, {Kind: Stream, Account: "A", Subject: "b"}},
		},
		{
			Name:    "C",
			Exports: []Export{{Kind: Service, Subject: "x.*"}},
			Imports: []Import{
				{Kind: Stream, Account: "B", Subject: "im.a.*", To: "z.$1"}, {Kind: Stream, Account: "A", Subject: "b"},
				{Kind: Service, Account: "B", Subject: "*.c", To: "x.$1"},
			},
		},
		{Name: "D", Imports: []Import{{Kind: Service, Account: "C", Subject: "x.*"}}},
	}}
	subjects := []string{"a", "b", "a.b", "a.c", "b.c", "im.a", "im.a.b", "im.a.c", "im.b", "z.a", "z.b", "x.b", "x.a", "x", "a.b.c"}
	type way struct{ from, to Origin }
	routed := make(map[way]bool)
	var all []Origin
	for _, a := range r.Accounts {
		for _, subj := range subjects {
			from := Origin{a.Name, subj}
			all = append(all, from)
			for _, c := range r.behindMappings(a.Name, subj) {
				for _, e := range c.Entries {
					for _, l := range e.Leaves {
						routed[way{from, Origin(l)}] = true
					}
				}
			}
		}
	}
	crossed := 0
	for _, to := range all {
		back := r.Origins(to.Account, to.Subject)
		for _, from := range all {
			is, want := slices.Contains(back, from), routed[way{from, to}]
			if is != want {
				t.Errorf("%v comes from %v: %v, routed there: %v", to, from, is, want)
			}
			if want && from.Account != to.Account {
				crossed++
			}
		}
	}
	if crossed < 10 {
		t.Errorf("but %d ways lead to another account", crossed)
	}
}

// behindMappings is Routes for a subject that the account's mappings have made.
func (r *Rules) behindMappings(account, subj string) []Choice {
	return r.enter(Choice{Weight: 100, Subject: subj}, Entry{Account: account, Subject: subj}, 0)
}
