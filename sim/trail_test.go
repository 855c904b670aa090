package sim

import (
	"testing"

	"github.com/natsd/natsd/wire"
)

// TestTrail tells a client that a reload took it a subscription to something that it subscribes to again.
func TestTrail(t *testing.T) {
	type said struct {
		verb inboundVerb
		text wire.Err
	}
	const a, b = wire.Err("no a"), wire.Err("no b")
	pong, ok := said{verb: saidPong}, said{verb: saidOK}
	no := func(e wire.Err) said { return said{saidErr, e} }
	maybe := func(e wire.Err) due { return due{kind: dueMaybe, err: e} }
	last := due{kind: duePong}
	cases := []struct {
		name string
		due  []due
		took []wire.Err // what reloads took away
		said []said
		left int // of that, what it was not told of; -1: what it was told is wrong
	}{
		{"it answers the SUB", []due{maybe(a), last}, []wire.Err{a}, []said{no(a), pong}, 1},
		{"it tells of the reload", []due{maybe(a), last}, []wire.Err{a}, []said{no(a), ok, pong}, 0},
		{"one of each", []due{maybe(a), last}, []wire.Err{a}, []said{no(a), no(a), pong}, 0},
		{"it told of the reload before another", []due{maybe(a), maybe(b), last}, []wire.Err{a}, []said{no(a), ok, no(b), pong}, 0},
		{"two reloads", []due{maybe(a), maybe(b), last}, []wire.Err{b, a}, []said{no(a), no(b), ok, ok, pong}, 0},
		{"the second of two", []due{maybe(a), maybe(a), last}, []wire.Err{a}, []said{no(a), ok, no(a), pong}, 0},
		{"an answer too many", []due{maybe(a), last}, []wire.Err{a}, []said{no(a), ok, ok, pong}, -1},
		{"an error too many", []due{maybe(a), last}, []wire.Err{a}, []said{no(a), no(a), no(a), pong}, -1},
		{"nothing to tell of", []due{maybe(a), last}, nil, []said{no(a), ok, pong}, -1},
		{"an answer missing", []due{maybe(a), maybe(b), last}, []wire.Err{a}, []said{no(a), pong}, -1},
		{"not across a PONG", []due{maybe(a), last, maybe(b), last}, []wire.Err{a}, []said{no(a), pong, ok, ok, pong}, -1},
		{"it must be told", []due{{kind: dueErr, err: a}, last}, []wire.Err{a}, []said{no(a), ok, pong}, -1},
	}
	for _, x := range cases {
		c := &client{}
		c.traits.verbose = true
		for _, d := range x.due {
			c.ledger.add(d)
		}
		for i, e := range x.took {
			s := &subscription{sid: uint64(i + 1)}
			c.subs = append(c.subs, s)
			c.revoked = append(c.revoked, revoked{sub: s, text: string(e)})
		}
		good := true
		for _, s := range x.said {
			c.ambiguous([]byte(s.text))
			_, fits := c.takeAnswer(s.verb, []byte(s.text))
			good = good && fits
		}
		switch {
		case good != (x.left >= 0):
			t.Errorf("%s: accepted %v", x.name, good)
		case !good:
		case len(c.revoked) != x.left || len(c.subs) != x.left || c.ledger.pongs != 0 || !c.ledger.empty():
			t.Errorf("%s: not told of %d, with %d subscriptions, %d pings and due %s", x.name, len(c.revoked), len(c.subs), c.ledger.pongs,
				c.ledger.unanswered())
		}
	}
}
