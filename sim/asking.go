package sim

import (
	"fmt"
	"strconv"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs there are two accounts more, each with one user on the server's own machine, who ask the server about themselves: one
// very much at a time, and traces of messages besides, the other one thing after another. What follows is property_asking.go.

// asking is the configuration of such a run.
type asking struct {
	most int // requests of the greedy one that may be under way
}

// Who asks.
const (
	greedy = iota
	modest
	numAskers
)

var (
	askerNames    = [numAskers]string{"the greedy one", "the modest one"}
	askerAccounts = [numAskers]string{"GREEDY", "MODEST"}
	askerUsers    = [numAskers]string{"greedy", "modest"}
)

// askedOf is what is asked. Numbers stand in logs: new ones go to the end.
type askedOf uint8

const (
	askedWho    askedOf = iota // who asks: that is answered at once
	askedConnz                 // the other two are looked into, and written by a job
	askedStatz                 // …
	askedTraces                // traces, which the server tells without being asked again; not of the modest one
	numAskedOf
)

var askedSubjects = [numAskedOf]string{"$SYS.REQ.USER.INFO", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.ACCOUNT.PING.STATZ", "traced"}

var askedNames = [numAskedOf]string{"who it is", "its connections", "its traffic", "for traces"}

// asks draws whether there are such accounts.
func (d draw) asks(c *config) {
	if c.tenants == nil || c.callout != nil || d.of(cfgAsking, 0, 0, 0, 1) != 1 {
		return
	}
	c.asking = &asking{most: int(d.of(cfgAskingMost, 600, 60))}
	o := &c.engine
	o.NoHeaders = false // who finds no responders is told so by one
	o.MaxConnections = min(o.MaxConnections, 65536) + numAskers
	o.MaxCalls = int(d.of(cfgAskingCalls, 0, 1, 5, 50))
	for i := range numAskers {
		o.Accounts = append(o.Accounts, settings.Account{
			Name: askerAccounts[i], Users: []settings.User{{Name: askerUsers[i], Password: authSecret}},
		})
	}
}

// asker is one of them, as it is connected to a process.
type asker struct {
	local
	reads bool // the server has not read yet all that the greedy one asked
	under int  // requests that are neither answered nor refused
	copy  int  // copies of the answer that the modest one has

	// Of what the modest one waits for:
	what     askedOf
	since    schedule.Time
	turn     uint64 // in which the server had read it; 0: it has not
	excused  bool   // a reload came
	answered bool
}

// Events of the askers: the greedy one asks, the modest one does, both leave, or one pongs.
const (
	askersAct uint64 = iota
	askersAsk
	askersEnd
	askerPongs // + which
)

// Purposes of decisions about them, of a server's SimDetail.
const (
	askWaits  = 140 // ms
	askMuch   = 141 // how many requests
	askWhat   = 142 // of which kind they are, if of one
	askModest = 143 // the same of the modest one's
	askAfter  = 144 // how long after the others it asks
)

const (
	askWaitsMost = 800 // ms
	askMuchMost  = 400
	askAfterMost = 8 // half milliseconds
)

// comeToAsk connects both.
func (n *node) comeToAsk() {
	if n.w.cfg.asking == nil || n.w.heardAll || n.stopping {
		return
	}
	for i := range n.askers {
		n.askers[i] = asker{}
		hello := `CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"user":"` + askerUsers[i] + `","pass":"` +
			authSecret + "\"}\r\nSUB _A 1\r\nSUB _A 2\r\n"
		n.connectLocal(&n.askers[i].local, 30+i, propAsking, askerNames[i]+" is turned away", hello)
	}
	n.after(nodeAskers, askersAct, askWaitsMost*millisecond)
}

// askersDo has them do something, inside a turn.
func (n *node) askersDo(what uint64) {
	switch what {
	case askersAct:
		n.askMuch()
	case askersAsk:
		n.askOne()
	case askersEnd:
		for i := range n.askers {
			n.localEnds(&n.askers[i].local)
		}
	default:
		n.localPongs(&n.askers[what-askerPongs].local)
	}
}

func (n *node) drawAsk(purpose uint32, below uint64) uint64 {
	k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: n.life<<32 | n.askedMuch}
	return n.w.source.Below(k, below)
}

// askMuch has the greedy one ask, and the modest one soon.
func (n *node) askMuch() {
	if n.w.faults.over || n.stopping {
		return
	}
	n.checkAskers()
	n.askedMuch++
	n.after(nodeAskers, askersAct, schedule.Time(1+n.drawAsk(askWaits, askWaitsMost))*millisecond)
	a := &n.askers[greedy]
	if a.id == 0 || a.reads {
		return
	}
	n.after(nodeAskers, askersAsk, schedule.Time(n.drawAsk(askAfter, askAfterMost))*millisecond/2)
	var b []byte
	much, kind := int(n.drawAsk(askMuch, askMuchMost)), askedOf(n.drawAsk(askWhat, uint64(numAskedOf)+2))
	for i := range much {
		what := kind
		if kind >= numAskedOf {
			what = askedOf(i) % numAskedOf
		}
		if what != askedTraces {
			if a.under >= n.w.cfg.asking.most {
				break
			}
			a.under++
		}
		b = appendAsk(b, what)
	}
	if len(b) > 0 {
		a.reads = true
		n.eng.Received(a.id, append(b, "PING\r\n"...))
	}
}

// appendAsk appends what is written to ask.
func appendAsk(b []byte, what askedOf) []byte {
	if what != askedTraces {
		return append(append(append(b, "PUB "...), askedSubjects[what]...), " _A 0\r\n\r\n"...)
	}
	const head = "NATS/1.0\r\nNats-Trace-Dest: _A\r\n\r\n"
	b = strconv.AppendInt(append(append(append(b, "HPUB "...), askedSubjects[what]...), ' '), int64(len(head)), 10)
	return append(append(append(strconv.AppendInt(append(b, ' '), int64(len(head)), 10), "\r\n"...), head...), "\r\n"...)
}

// askOne has the modest one ask, unless it waits for something.
func (n *node) askOne() {
	a := &n.askers[modest]
	if a.id == 0 || a.under > 0 || n.w.faults.over || n.stopping {
		return
	}
	a.what = askedOf(n.drawAsk(askModest, uint64(askedTraces)))
	a.under, a.copy, a.since, a.turn, a.answered = 1, 0, n.w.queue.Now(), 0, false
	a.excused = n.eng.Following()
	n.eng.Received(a.id, append(appendAsk(nil, a.what), "PING\r\n"...))
}

// askerOf is which of them has that connection; -1: none.
func (n *node) askerOf(id engine.ConnID) int {
	for i := range n.askers {
		if n.askers[i].id == id && id != 0 {
			return i
		}
	}
	return -1
}

// askersLog is told of log lines about connections that are closed; it reports whether this one is about one of them.
func (n *node) askersLog(subject string) bool {
	for i := range n.askers {
		if n.localClosed(&n.askers[i].local, subject) {
			return true
		}
	}
	return false
}

// askerSends takes what the server sends to one of them.
func (n *node) askerSends(which int, bufs [][]byte) (taken int) {
	a := &n.askers[which]
	return n.localSends(&a.local, askerNames[which], bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyAskers, n: askerPongs + uint64(which)})
		case saidPong:
			a.turn, a.reads = n.turns, false
		case saidMsg:
			n.askerHears(which, in)
		case saidErr:
			n.w.fail(propAsking, askerNames[which]+" is told "+string(in.args))
		case saidInfo, saidOK:
		}
	})
}

// askingWords tells what a decision about them is; empty: it is none.
func askingWords(r decision.Record) string {
	if r.Actor.Class() != decision.Node || r.Kind != decision.SimDetail {
		return ""
	}
	switch r.Purpose {
	case askWaits:
		return fmt.Sprintf("the greedy one asks again %d ms after its %dth time", 1+r.Value, r.N&0xffffffff)
	case askMuch:
		return fmt.Sprintf("the greedy one asks, for the %dth time, %d things", r.N&0xffffffff, r.Value)
	case askWhat:
		if r.Value >= uint64(numAskedOf) {
			return "  … of all kinds"
		}
		return "  … " + nameOf(askedNames[:], r.Value)
	case askModest:
		return "  … and the modest one asks " + nameOf(askedNames[:], r.Value)
	case askAfter:
		return fmt.Sprintf("  … %d half milliseconds later", r.Value)
	}
	return ""
}
