package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// A request that a reload finds on its way to its own account's subscribers goes on to the service only if it could be made anew.
func TestRequestUnderWayAtReload(t *testing.T) {
	const n = 40
	accounts := func(imports ...config.Import) []config.Account {
		return []config.Account{
			{Name: "A", Exports: append(exports(config.Service, "ask"), exports(config.Service, "tell")...)},
			{Name: "B", Imports: imports},
			{Name: "C", Imports: []config.Import{service("A", "ask")}},
		}
	}
	for _, c := range []struct {
		name    string
		after   []config.Import
		moves   string // account that the publisher is in afterwards
		arrives bool
	}{
		{"the import stays", []config.Import{service("A", "ask")}, "", true},
		{"beside another", []config.Import{service("A", "tell"), service("A", "ask")}, "", true},
		{"it is gone", nil, "", false},
		{"it is another", []config.Import{service("A", "tell", to("ask"))}, "", false},
		{"the publisher has moved", []config.Import{service("A", "ask")}, "C", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := withAccounts(t, Options{TurnWork: 1}, accounts(service("A", "ask"))...)
			serves := w.join("A", "SUB ask 1\r\nSUB tell 2\r\n")
			var subs strings.Builder
			for i := range n {
				fmt.Fprintf(&subs, "SUB ask %d\r\n", i)
			}
			w.join("B", subs.String())
			asks := w.join("B", "")
			w.w.settle(t, w.e)
			say(w.e, asks, "PUB ask back 2\r\nhi\r\n")
			if f := w.e.Footprint(); f.Fanouts != 1 {
				t.Fatalf("the request is not under way: %+v", f)
			}
			r := draftRules(accounts(c.after...), w.e.opts.SystemAccount)
			turn(w.e, func() {
				w.e.enforce(r)
				if c.moves != "" {
					w.e.become(w.e.lookup(asks), &user{account: w.e.byAccount[c.moves]})
				}
			})
			w.w.settle(t, w.e)
			if got := w.w.take(serves); (got != "") != c.arrives {
				t.Errorf("the service got %q", got)
			}
			w.w.advance(t, w.e, Instant(defaultThreshold))
			if f := w.e.Footprint(); f.Replies != 0 || f.Fanouts != 0 {
				t.Errorf("something is left: %+v", f)
			}
		})
	}
}
