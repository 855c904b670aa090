package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
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
	askAccounts // their traffic
	askMetrics
	askReload // no question, but it comes from the operator too
	numQuestions
	askWork = numQuestions // not drawn
)

var questionWeights = [numQuestions]uint32{24, 1, 1, 1, 1, 1, 1, 1, 1}

var questionNames = [numQuestions]string{"nothing", "varz", "connz", "connz with everything", "subsz", "healthz", "accstatz", "metrics", "a reload"}

// asked is a question without answer.
type asked struct {
	what question
	at   schedule.Time
	turn uint64
}

// answerIn is how long a server that nothing hinders may take to answer.
const answerIn = 10 * second // a job begun while everything takes a hundred times longer takes 8 s

var _ engine.Monitor = (*node)(nil)

// ask lets an operator ask something, or not, in the nth second, and looks for what was not answered.
func (n *node) ask(now schedule.Time, nth uint64) {
	k := decision.Key{Kind: decision.SimOperation, Actor: n.actor, N: nth}
	what := question(n.w.source.Pick(k, questionWeights[:]))
	if what == askNothing && n.mayReconfigure(nth) || n.mayRevoke(nth) {
		what = askReload
	}
	if n.eng == nil || n.paused > 0 {
		return
	}
	if n.waiting > 0 && now-n.oldest > answerIn && !n.hindered() {
		n.w.fail(propMonitoring, strconv.Itoa(n.waiting)+" questions were not answered")
	}
	n.mayGiveUp(nth)
	if what == askReload {
		n.nextOptions = n.drawReload(nth)
	}
	if n.listener.listens() {
		n.tell(ready{kind: readyListener, n: listenerAsk + nth})
	}
	switch what {
	case askNothing:
	case askReload:
		n.reloadSoon(nth)
	default:
		n.tell(ready{kind: readyQuery, n: uint64(what)})
	}
}

// query asks the engine, inside a turn.
func (n *node) query(what question) {
	if what == askReload {
		n.mayReload()
		return
	}
	id := n.inquire(what)
	switch what {
	case askNothing, askReload, askWork:
	case askVarz:
		n.eng.Ask(id, monitor.VarzOptions{})
	case askConnz:
		n.eng.Ask(id, monitor.ConnzOptions{Limit: everything})
	case askConnzAll:
		n.eng.Ask(id, monitor.ConnzOptions{State: monitor.All, Subscriptions: true, Limit: everything})
	case askSubsz:
		n.eng.Ask(id, monitor.SubszOptions{Subscriptions: true})
	case askHealthz:
		n.eng.Ask(id, monitor.HealthzOptions{})
	case askAccounts:
		n.eng.Ask(id, monitor.AccountStatzOptions{Unused: true})
	case askMetrics:
		n.eng.Ask(id, monitor.MetricsOptions{})
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

// everything is a page that holds all there is.
const everything = 1 << 20

// Answer implements engine.Monitor.
func (n *node) Answer(id engine.QueryID, answer monitor.Answer) {
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
	case *monitor.Varz:
		size = a.Connections
		if q.what == askWork {
			n.workTold(a)
		} else if q.what != askVarz {
			wrong = "varz answers another question"
		}
		if a.Connections != n.active || a.TotalConnections != n.total || a.Subscriptions < 0 {
			wrong = "varz counts " + strconv.Itoa(a.Connections) + " connections of " + strconv.FormatUint(a.TotalConnections, 10) +
				", the network " + strconv.Itoa(n.active) + " of " + strconv.FormatUint(n.total, 10)
		} else if wrong == "" {
			wrong = n.wrongTraffic(a.InMsgs, a.OutMsgs)
		}
	case *monitor.Connz:
		size = len(a.Pick())
		wrong = n.wrongConnz(q, a)
	case *monitor.AccountStatz:
		size = len(a.Accounts)
		wrong = n.wrongAccounts(q, a)
	case *monitor.Metrics:
		size = a.Varz.Connections
		wrong = n.wrongMetrics(q, a)
	case *monitor.Subsz:
		size = a.Subs.Len()
		if q.what != askSubsz || q.turn == n.turns && size > a.Stats.NumSubs {
			wrong = "subsz lists " + strconv.Itoa(size) + " subscriptions and counts " + strconv.Itoa(a.Stats.NumSubs)
		}
	case *monitor.Healthz:
		if q.what != askHealthz || a.OK() == n.stopping && q.turn == n.turns {
			wrong = "healthz says the contrary: " + a.Error
		}
	}
	n.effect(EffectAnswer, 0, int64(size))
	if wrong != "" {
		n.w.fail(propMonitoring, wrong)
	}
}

// wrongConnz says what is wrong with the answer; empty: nothing.
func (n *node) wrongConnz(q asked, a *monitor.Connz) string {
	open := 0
	last := uint64(0)
	seen := make(map[uint64]bool)
	for _, c := range a.Pick() {
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
	case q.turn == n.turns:
		return n.misplaced(a)
	}
	return ""
}

// wrongTraffic says what is wrong with the messages counted at a moment: what was counted stays counted.
func (n *node) wrongTraffic(in, out uint64) string {
	if in < n.seenIn || out < n.seenOut {
		return "messages are counted no more: " + strconv.FormatUint(in, 10) + " in and " + strconv.FormatUint(out, 10) + " out, they were " +
			strconv.FormatUint(n.seenIn, 10) + " and " + strconv.FormatUint(n.seenOut, 10)
	}
	n.seenIn, n.seenOut = in, out
	return ""
}

// wrongAccounts says what is wrong with the traffic of all accounts.
func (n *node) wrongAccounts(q asked, a *monitor.AccountStatz) string {
	var conns int
	var in, out uint64
	for i := range a.Accounts {
		s := &a.Accounts[i]
		conns += s.Conns
		in, out = in+s.Received.Msgs, out+s.Sent.Msgs
		if s.Conns < 0 || s.NumSubs < 0 {
			return "accstatz counts less than nothing in " + s.Account
		}
	}
	switch {
	case q.what != askAccounts:
		return "accstatz answers another question"
	case q.turn != n.turns:
		return "" // as it was over several turns
	case conns > n.active:
		return "accstatz counts " + strconv.Itoa(conns) + " connections, there are " + strconv.Itoa(n.active)
	}
	return n.wrongTraffic(in, out)
}

// wrongMetrics says where the accounts' counters are not the server's.
func (n *node) wrongMetrics(q asked, a *monitor.Metrics) string {
	if q.what != askMetrics {
		return "metrics answer another question"
	}
	v, s := a.Varz, a.AllAccounts()
	if q.turn == n.turns && (v.InMsgs != s.Received.Msgs || v.InBytes != s.Received.Bytes || v.OutMsgs != s.Sent.Msgs ||
		v.OutBytes != s.Sent.Bytes || v.Subscriptions != s.NumSubs || v.SlowConsumers != s.SlowConsumers || v.Connections < s.Conns) {
		return "the accounts' counters together are not the server's"
	}
	return n.wrongTraffic(v.InMsgs, v.OutMsgs)
}
