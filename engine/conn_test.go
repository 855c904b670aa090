package engine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestConnSubsModel holds a connection's table of subscriptions against a map, with sids short and long, few and many.
func TestConnSubsModel(t *testing.T) { rapid.Check(t, connSubsModel) }

func FuzzConnSubs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(connSubsModel)) }

func connSubsModel(t *rapid.T) {
	c := &conn{}
	model := map[string]*subscription{}
	sids := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			return strings.Repeat("x", n+10) // around what fits into the subscription
		}
		return strings.Repeat("1", n%3+1) + string(rune('a'+n))
	})
	t.Repeat(map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			sid := sids.Draw(t, "sid")
			if model[sid] == nil {
				s := newSubscription(c, []byte(sid))
				c.addSub(s)
				model[sid] = s
			}
		},
		"drop": func(t *rapid.T) {
			sid := sids.Draw(t, "sid")
			if s := c.sub([]byte(sid)); s != nil {
				c.dropSub(s)
				delete(model, sid)
			}
		},
		"drop first": func(t *rapid.T) {
			if len(c.subs) > 0 {
				delete(model, c.subs[0].sid())
				c.dropSub(c.subs[0])
			}
		},
		"": func(t *rapid.T) {
			if len(c.subs) != len(model) {
				t.Fatalf("%d subscriptions, want %d", len(c.subs), len(model))
			}
			for i, s := range c.subs {
				sid := s.sid()
				if int(s.index) != i || model[sid] != s || c.sub([]byte(sid)) != s || !s.hasSID([]byte(sid)) || s.hasSID([]byte(sid+"0")) {
					t.Fatalf("subscription %q is not found where it should be", sid)
				}
			}
			if c.sub([]byte("no such sid")) != nil {
				t.Fatal("a subscription that there is not was found")
			}
			if len(model) == 0 && (c.subs != nil || c.bySid != nil) {
				t.Fatal("an empty table holds memory")
			}
		},
	})
}
