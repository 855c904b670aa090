package sim

import (
	"encoding/json"
	"strconv"
	"strings"

	conf "github.com/natsd/natsd/config"
)

// Who listens in the system account all the while hears of every client that it came, once (and perhaps again when a reload has
// moved it to another account, or a service has named it anew), and that it went, once; and the server answers what is asked there. (That nobody else hears of
// it, the oracle sees to: no client publishes such messages.)
//
// The listener is on the server's own machine, and takes everything at once: no network is between the two.

// propSystem is the name of the property.
const propSystem = "system"

// The system account of runs with a listener.
const (
	systemAccount = "SYS"
	systemUser    = "op"
	anyUser       = "anybody" // who clients without credentials are
)

const listenerHello = `CONNECT {"verbose":false,"pedantic":false,"user":"` + systemUser + `","pass":"` + authSecret + `"}` +
	"\r\nSUB $SYS.ACCOUNT.> 1\r\nSUB _L 2\r\n"

// listenerServices are what it asks, in turns.
var listenerServices = [...]string{"", ".VARZ", ".CONNZ", ".SUBSZ", ".ACCOUNTZ", ".HEALTHZ", ".IDZ"}

// letListen makes the options those of a run with a listener. Clients that show a token can't be let in beside users, and in
// operator mode there are none: such runs have no listener.
func (c *config) letListen() {
	if c.auth == authToken || c.auth == authHashedToken || c.auth == authJWT {
		return
	}
	c.listens = true
	o := &c.engine
	o.SystemAccount = conf.Located{Text: systemAccount}
	o.Accounts = []conf.Account{{Name: systemAccount, Users: []conf.User{{Name: systemUser, Password: authSecret}}}}
	if c.auth == authNone {
		o.Users = []conf.User{{Name: anyUser}}
		o.NoAuthUser = conf.Located{Text: anyUser}
	}
	o.MaxConnections++ // it takes a place
}

// listener is what the one in the system account has heard from a process.
type listener struct {
	local
	over     bool // the engine has given it up
	moved    bool // clients may have come into other accounts by a reload, and are told of as coming again
	came     map[uint64]bool
	went     map[uint64]bool
	letIn    map[uint64]bool // clients that know that the server has let them in
	closed   map[uint64]bool // clients that the server has closed
	asked    int
	answered int
}

// listens reports whether it is there and hears everything.
func (l *listener) listens() bool { return l.id != 0 && !l.over }

// comeToListen connects it, inside a turn.
func (n *node) comeToListen() {
	if !n.w.cfg.listens || n.w.heardAll || n.stopping {
		return
	}
	l := &n.listener
	*l = listener{moved: n.w.cfg.callout != nil, came: map[uint64]bool{}, went: map[uint64]bool{}, letIn: map[uint64]bool{}, closed: map[uint64]bool{}}
	n.connectLocal(&l.local, 1, propSystem, "the first connection is turned away", listenerHello)
}

// listenerSends takes what the server sends to it.
func (n *node) listenerSends(bufs [][]byte) (taken int) {
	return n.localSends(&n.listener.local, "the listener", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyListener, n: listenerPong})
		case saidMsg:
			n.listenerHears(string(in.subject), in.payload)
		case saidInfo, saidPong, saidOK, saidErr:
		}
	})
}

func (n *node) listenerHears(subj string, body []byte) {
	l := &n.listener
	if subj == "_L" {
		l.answered++
		if !json.Valid(body) {
			n.w.fail(propSystem, "an answer is no JSON: "+quote(body))
		}
		return
	}
	var ev struct {
		Client struct{ ID uint64 }
	}
	if err := json.Unmarshal(body, &ev); err != nil {
		n.w.fail(propSystem, "an event is no JSON: "+quote(body))
		return
	}
	cid := ev.Client.ID
	which, again := l.came, l.moved
	if strings.HasSuffix(subj, ".DISCONNECT") {
		which, again = l.went, false
	} else if !strings.HasSuffix(subj, ".CONNECT") {
		return
	}
	if which[cid] && !again {
		n.w.fail(propSystem, "the system account hears twice on "+subj+" of client "+strconv.FormatUint(cid, 10))
	}
	which[cid] = true
}

// What the listener does.
const (
	listenerPong uint64 = iota
	listenerEnd
	listenerAsk // + which service
)

// listenerDoes has it do something, inside a turn.
func (n *node) listenerDoes(what uint64) {
	l := &n.listener
	if !l.listens() {
		return
	}
	switch what {
	case listenerPong:
		n.eng.Received(l.id, []byte("PONG\r\n"))
	case listenerEnd:
		n.eng.EOF(l.id)
	default:
		l.asked++
		service := listenerServices[(what-listenerAsk)%uint64(len(listenerServices))]
		n.eng.Received(l.id, []byte("PUB $SYS.REQ.SERVER.PING"+service+" _L 0\r\n\r\n"))
	}
}

// listenerLog is told of log lines about connections; it reports whether this one is about the listener.
func (n *node) listenerLog(subject, reason string) bool {
	l := &n.listener
	if !l.listens() {
		return false
	}
	if subject == l.name {
		l.over = true
		n.active--
		return true
	}
	_, text, _ := strings.Cut(subject, "cid:")
	if cid, err := strconv.ParseUint(text, 10, 64); err == nil && reason != "" {
		l.closed[cid] = true
	}
	return false
}

// deaf is what the listener of a server has not heard of, though it should have; empty: nothing.
func (n *node) deaf() string {
	l := &n.listener
	if n.eng == nil || !l.listens() {
		return ""
	}
	missing := func(expected, heard map[uint64]bool) int {
		count := 0
		for cid := range expected { //natsd:orderfree it counts
			if !heard[cid] {
				count++
			}
		}
		return count
	}
	switch {
	case missing(l.letIn, l.came) > 0:
		return strconv.Itoa(missing(l.letIn, l.came)) + " clients came"
	case missing(l.closed, l.went) > 0:
		return strconv.Itoa(missing(l.closed, l.went)) + " clients went"
	case missing(l.came, l.went) > n.locals():
		return strconv.Itoa(missing(l.came, l.went)-n.locals()) + " clients that came have gone"
	case l.answered != l.asked:
		return strconv.Itoa(l.asked) + " questions have " + strconv.Itoa(l.answered) + " answers"
	}
	return ""
}

// alone reports whether nobody but listeners is left, and they have heard everything.
func (w *world) alone() bool {
	for _, n := range w.nodes {
		if !n.askersServed() || !n.grantersServed() {
			return false
		}
		if n.eng != nil && n.listener.listens() && (n.eng.Footprint().Connections > n.locals() || n.deaf() != "") {
			return false
		}
	}
	return true
}

// endListening is the end of the listeners, after all clients have gone.
func (w *world) endListening() {
	if !w.within(w.departure(), w.alone) && w.failure == nil {
		for _, n := range w.nodes {
			if what := n.deaf(); what != "" {
				w.fail(propSystem, "the system account has not heard: "+what)
			}
			if !n.askersServed() {
				w.fail(propAsking, strconv.Itoa(n.askers[greedy].under)+" requests of the greedy one and "+strconv.Itoa(n.askers[modest].under)+" of the modest one have no answer")
			}
			if !n.grantersServed() {
				w.fail(propGranting, strconv.Itoa(n.grants.taken)+" answers were taken, and "+strconv.Itoa(n.grants.got)+" arrived")
			}
		}
	}
	w.heardAll = true // a process that starts from here on, after one that was still leaving in lame duck mode, has no listener
	for _, n := range w.nodes {
		n.tell(ready{kind: readyListener, n: listenerEnd})
		n.tell(ready{kind: readyService, n: serviceLeaves})
		n.tell(ready{kind: readyLend, n: lendLeave})
		n.tell(ready{kind: readyArchive, n: archiveEnds})
		n.tell(ready{kind: readyMembers, n: membersEnd})
		n.tell(ready{kind: readyAskers, n: askersEnd})
		n.tell(ready{kind: readyGranters, n: grantersEnd})
	}
}
