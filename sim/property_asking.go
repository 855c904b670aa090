package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/sim/schedule"
)

// However much one account asks the server, it answers another as if it were asked by that alone, but for a turn of each other account:
// it always has room for the one question of who asks one thing after another, and answers it within a number of turns that has
// nothing to do with what others ask. And it answers, or refuses, everything that it is asked, of which it never holds more than it may.

// propAsking is the name of the property.
const propAsking = "asking"

const (
	// askedAtOnce is within how many turns something is answered that is answered at once, beside one for each connection: these are
	// written to in turns.
	askedAtOnce = 48
	// askedSoon is within which time the rest is, by a server that nothing hinders: a few jobs follow each other.
	askedSoon = second
	// askedEver is within which time everything is, whatever reloads come.
	askedEver = 10 * second
	// askingAccounts is more than there ever are.
	askingAccounts = 12
	// defaultCalls is how many requests may wait where nothing says how many.
	defaultCalls = 10_000
)

// askerHears takes a message to one of them.
func (n *node) askerHears(which int, in *inbound) {
	a := &n.askers[which]
	refusal := in.unanswered()
	if which == greedy {
		if refusal || in.sid == 1 && !isTrace(in) {
			if a.under--; a.under < 0 {
				n.w.fail(propAsking, askerNames[which]+" has more answers than it asked for: "+quote(in.payload))
			}
		}
		return
	}
	if a.under == 0 {
		n.w.fail(propAsking, askerNames[which]+" has an answer and asked nothing: "+quote(in.payload))
		return
	}
	if refusal {
		if a.under = 0; !a.excused && !n.stopping {
			n.w.fail(propAsking, askerNames[which]+", which asks "+askedNames[a.what]+" and nothing else, is told that nobody responds")
		}
		return
	}
	if !a.answered {
		a.answered = true
		n.judgeAnswered(a)
	}
	if a.copy++; a.copy == 2 { // it has two subscriptions
		a.under = 0
	}
}

// isTrace reports whether a message to the greedy one is no answer.
func isTrace(in *inbound) bool {
	const begins = `{"server":`
	p := string(in.payload)
	return len(p) > len(begins) && p[:len(begins)] == begins && strings.Contains(p, `"request":{`)
}

// judgeAnswered judges when the modest one has its answer.
func (n *node) judgeAnswered(a *asker) {
	if a.excused || n.stopping || a.turn == 0 {
		return
	}
	if turns, most := n.turns-a.turn, uint64(askedAtOnce+2*n.active); a.what == askedWho && turns > most {
		n.w.fail(propAsking, askerNames[modest]+" is told who it is "+strconv.FormatUint(turns, 10)+" turns after it asked, "+
			strconv.FormatUint(most, 10)+" are enough")
	}
	n.judgeSince(a, askedSoon)
}

// judgeSince judges how long it has waited.
func (n *node) judgeSince(a *asker, most schedule.Time) {
	if took := n.w.queue.Now() - max(a.since, n.sickUntil); !n.hindered() && n.paused == 0 && took > most {
		n.w.fail(propAsking, askerNames[modest]+" waits "+time.Duration(took).String()+" for what it asks: "+askedNames[a.what])
	}
}

// checkAskers looks for what should have been answered, and whether there is too much.
func (n *node) checkAskers() {
	if a := &n.askers[modest]; a.id != 0 && a.under > 0 {
		most := askedSoon
		if a.excused || a.answered {
			most = askedEver
		}
		n.judgeSince(a, most)
	}
	most := n.w.cfg.engine.MaxCalls
	if most == 0 {
		most = defaultCalls
	}
	if calls := n.eng.Footprint().Calls; calls > most+askingAccounts {
		n.w.fail(propAsking, strconv.Itoa(calls)+" requests wait, max_calls is "+strconv.Itoa(most))
	}
}

// askersServed reports whether both have an answer to all that they asked.
func (n *node) askersServed() bool {
	return n.eng == nil || n.askers[greedy].id == 0 || n.askers[greedy].under+n.askers[modest].under == 0
}
