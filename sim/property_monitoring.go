package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// What a server is asked about itself it answers once, in time, and truly.

// propMonitoring is the name of the property.
const propMonitoring = "monitoring"

// question is what an operator asks. Numbers stand in logs.
type question uint8

const (
	askNothing question = iota
	askVarz
	askConnz
	askConnzAll // closed ones and subscriptions too
	askSubsz
	askHealthz
	askReload // no question, but it comes from the operator too
	numQuestions
	askWork = numQuestions // not drawn
)

var questionWeights = [numQuestions]uint32{24, 1, 1, 1, 1, 1, 1}

var questionNames = [numQuestions]string{"nothing", "varz", "connz", "connz with everything", "subsz", "healthz", "a reload"}

// asked is a question without answer.
type asked struct {
	what question
	at   schedule.Time
	turn uint64
}

// answerIn is how long a server that nothing hinders may take to answer.
const answerIn = 5 * second

var _ engine.Monitor = (*node)(nil)

// ask lets an operator ask something, or not, in the nth second, and looks for what was not answered.
func (n *node) ask(now schedule.Time, nth uint64) {
	k := decision.Key{Kind: decision.SimOperation, Actor: n.actor, N: nth}
	what := question(n.w.source.Pick(k, questionWeights[:]))
	if n.eng == nil || n.paused > 0 {
		return
	}
	if n.waiting > 0 && now-n.oldest > answerIn && !n.hindered() {
		n.w.fail(propMonitoring, strconv.Itoa(n.waiting)+" questions were not answered")
	}
	if what == askReload {
		n.nextOptions = n.drawReload(nth)
	}
	if what != askNothing {
		n.tell(ready{kind: readyQuery, n: uint64(what)})
	}
}

// query asks the engine, inside a turn.
func (n *node) query(what question) {
	if what == askReload {
		n.reload()
		return
	}
	id := n.inquire(what)
	switch what {
	case askNothing, askReload, askWork:
	case askVarz:
		n.eng.QueryVarz(id)
	case askConnz:
		n.eng.QueryConnz(id, engine.ConnzOptions{Open: true})
	case askConnzAll:
		n.eng.QueryConnz(id, engine.ConnzOptions{Open: true, Closed: true, Subs: true})
	case askSubsz:
		n.eng.QuerySubsz(id, engine.SubszOptions{List: true})
	case askHealthz:
		n.eng.QueryHealthz(id)
	}
}

// inquire notes that a question is asked, and names it.
func (n *node) inquire(what question) engine.QueryID {
	n.nextQuery++
	if n.waiting == 0 {
		n.oldest = n.w.queue.Now()
	}
	n.waiting++
	n.asked[n.nextQuery] = asked{what: what, at: n.w.queue.Now(), turn: n.turns}
	n.w.trace.event(n.index, EventQuery, 0, int64(what))
	return n.nextQuery
}

// Answer implements engine.Monitor.
func (n *node) Answer(id engine.QueryID, answer any) {
	q, ok := n.asked[id]
	if !ok {
		n.w.fail(propMonitoring, "an answer to no question, or a second one")
		return
	}
	delete(n.asked, id)
	n.waiting--
	size := 0
	wrong := ""
	switch a := answer.(type) {
	case *engine.Varz:
		size = a.Connections
		if q.what == askWork {
			n.judgeWork(a)
		} else if q.what != askVarz {
			wrong = "varz answers another question"
		}
		if a.Connections != n.active || a.TotalConnections != n.total || a.Subscriptions < 0 {
			wrong = "varz counts " + strconv.Itoa(a.Connections) + " connections of " + strconv.FormatUint(a.TotalConnections, 10) +
				", the network " + strconv.Itoa(n.active) + " of " + strconv.FormatUint(n.total, 10)
		}
	case *engine.Connz:
		size = a.Conns.Len()
		wrong = n.wrongConnz(q, a)
	case *engine.Subsz:
		size = a.Subs.Len()
		if q.what != askSubsz || q.turn == n.turns && size > a.Stats.Subs {
			wrong = "subsz lists " + strconv.Itoa(size) + " subscriptions and counts " + strconv.Itoa(a.Stats.Subs)
		}
	case *engine.Healthz:
		if q.what != askHealthz || a.OK == n.stopping && q.turn == n.turns {
			wrong = "healthz says the contrary: " + a.Reason
		}
	}
	n.effect(EffectAnswer, 0, int64(size))
	if wrong != "" {
		n.w.fail(propMonitoring, wrong)
	}
}

// wrongConnz says what is wrong with the answer; empty: nothing.
func (n *node) wrongConnz(q asked, a *engine.Connz) string {
	open := 0
	last := uint64(0)
	seen := make(map[uint64]bool)
	for c := range a.Conns.All() {
		if c.Stop == 0 {
			open++
			if seen[c.CID] {
				return "connz lists cid " + strconv.FormatUint(c.CID, 10) + " twice"
			}
			seen[c.CID] = true
		}
		last = max(last, c.CID)
	}
	switch {
	case q.what != askConnz && q.what != askConnzAll:
		return "connz answers another question"
	case last > n.total:
		return "connz lists a connection that was never accepted"
	case q.turn == n.turns && open != n.active:
		return "connz lists " + strconv.Itoa(open) + " open connections, there are " + strconv.Itoa(n.active)
	}
	return ""
}
