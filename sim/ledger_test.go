package sim

import (
	"testing"

	"github.com/natsd/natsd/wire"
)

func TestLedger(t *testing.T) {
	const subs, subj = wire.ErrMaxSubscriptions, wire.ErrInvalidSubject
	type said struct {
		verb inboundVerb
		text wire.Err
	}
	pong, ok := said{verb: saidPong}, said{verb: saidOK}
	no := func(e wire.Err) said { return said{saidErr, e} }
	cases := []struct {
		name    string
		verbose bool
		due     []due
		said    []said
		wrong   bool
	}{
		{"pongs in order", false, []due{{kind: duePong}, {kind: duePong}}, []said{pong, pong}, false},
		{"one pong too many", false, []due{{kind: duePong}}, []said{pong, pong}, true},
		{"an ok that nobody asked for", false, []due{{kind: duePong}}, []said{ok, pong}, true},
		{"verbose", true, []due{{kind: dueOK}, {kind: duePong}}, []said{ok, pong}, false},
		{"verbose, no ok", true, []due{{kind: dueOK}, {kind: duePong}}, []said{pong}, true},
		{"an error", false, []due{{kind: dueErr, err: subj}, {kind: duePong}}, []said{no(subj), pong}, false},
		{"an error missing", false, []due{{kind: dueErr, err: subj}, {kind: duePong}}, []said{pong}, true},
		{"another error", false, []due{{kind: dueErr, err: subj}}, []said{no(subs)}, true},
		{"an error late", false, []due{{kind: dueErr, err: subj}, {kind: duePong}}, []said{pong, no(subj)}, true},
		{"maybe, yes", false, []due{{kind: dueMaybe, err: subs}, {kind: duePong}}, []said{no(subs), pong}, false},
		{"maybe, no", false, []due{{kind: dueMaybe, err: subs}, {kind: duePong}}, []said{pong}, false},
		{"maybe, verbose", true, []due{{kind: dueMaybe, err: subs}, {kind: duePong}}, []said{ok, pong}, false},
		{"maybe, verbose, nothing", true, []due{{kind: dueMaybe, err: subs}, {kind: duePong}}, []said{pong}, true},
		{"a maybe before a must", false, []due{{kind: dueMaybe, err: subs}, {kind: dueErr, err: subs}, {kind: duePong}},
			[]said{no(subs), pong}, false},
		{"a maybe before a must, both", false, []due{{kind: dueMaybe, err: subs}, {kind: dueErr, err: subs}, {kind: duePong}},
			[]said{no(subs), no(subs), pong}, false},
		{"a maybe before a must, three", false, []due{{kind: dueMaybe, err: subs}, {kind: dueErr, err: subs}, {kind: duePong}},
			[]said{no(subs), no(subs), no(subs), pong}, true},
		{"an option of two", false, []due{{kind: dueOption, err: subs}, {kind: dueOption, err: subj}, {kind: duePong}},
			[]said{no(subj), pong}, false},
	}
	for _, c := range cases {
		var l ledger
		for _, d := range c.due {
			l.add(d)
		}
		good := true
		for _, s := range c.said {
			_, fits := l.answer(s.verb, []byte(s.text), c.verbose)
			good = good && fits
		}
		if good == c.wrong {
			t.Errorf("%s: accepted %v", c.name, good)
		}
	}
}
