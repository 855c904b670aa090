package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// A request on its way to its own account's subscribers goes on to the service only if the import is still there, when the JWT of an
// account changes and when there is a reload, before which it was found out whom it reaches there.
func TestRequestUnderWayAtReload(t *testing.T) {
	accounts := func(imports ...config.Import) []config.Account {
		return []config.Account{
			{Name: "A", Exports: append(exports(config.Service, "ask"), exports(config.Service, "tell")...)},
			{Name: "B", Imports: imports},
		}
	}
	for _, c := range []struct {
		name    string
		after   []config.Import
		arrives bool
	}{
		{"the import stays", []config.Import{service("A", "ask")}, true},
		{"beside another", []config.Import{service("A", "tell"), service("A", "ask")}, true},
		{"it is gone", nil, false},
		{"it is another", []config.Import{service("A", "tell", to("ask"))}, false},
	} {
		for _, settled := range [...]bool{false, true} {
			for _, behind := range [...]bool{false, true} {
				t.Run(fmt.Sprint(c.name, " settled ", settled, " behind ", behind), func(t *testing.T) {
					testUnderWay(t, accounts(service("A", "ask")), accounts(c.after...), settled, behind, c.arrives)
				})
			}
		}
	}
}

func testUnderWay(t *testing.T, before, after []config.Account, settled, behind, arrives bool) {
	w := withAccounts(t, Options{TurnWork: 1}, before...)
	serves := w.join("A", "SUB ask 1\r\nSUB tell 2\r\n")
	var subs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&subs, "SUB ask %d\r\n", i)
	}
	w.join("B", subs.String())
	asks := w.join("B", "")
	w.w.settle(t, w.e)
	if behind {
		w.enforce(before[:1]...)
		w.enforce(before...) // so that the import is the last to be reached
		w.w.settle(t, w.e)
	}
	say(w.e, asks, "PUB ask back 2\r\nhi\r\n")
	if f := w.e.Footprint(); f.Fanouts != 1 {
		t.Fatalf("the request is not under way: %+v", f)
	}
	r := draftRules(after, w.e.opts.SystemAccount)
	turn(w.e, func() {
		if settled {
			w.e.settleUnderway()
		}
		w.e.enforce(r)
	})
	w.w.settle(t, w.e)
	if got := w.w.take(serves); (got != "") != arrives {
		t.Errorf("the service got %q", got)
	}
	w.w.advance(t, w.e, Instant(defaultThreshold))
	if f := w.e.Footprint(); f.Replies != 0 || f.Fanouts != 0 {
		t.Errorf("something is left: %+v", f)
	}
}
