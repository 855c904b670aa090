package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs there is an account more, with two users on the server's own machine: one asks, and the other may publish nothing but
// answers, so many for so long. How many, and how long, reloads change, or leave; they come while answers are outstanding, and while one
// is searched for. What follows is property_granting.go.

// allowed is how many answers may be given to a request, within which time; none where it is none.
type allowed struct {
	most   int
	within time.Duration
}

var allowances = [...]allowed{{2, 5 * time.Second}, {1, 5 * time.Second}, {2, 300 * time.Millisecond}, {3, time.Second}, {}}

// Who has to do with it.
const (
	wantsAnswers = iota
	givesAnswers
	numGranters
)

const grantingAccount = "GRANTS"

var granterUsers = [numGranters]string{"wants", "gives"}

// grants draws whether there is such an account.
func (d draw) grants(c *config) {
	if c.tenants == nil || c.callout != nil || d.of(cfgGranting, 0, 0, 0, 1) != 1 {
		return
	}
	c.granting = true
	c.engine.MaxConnections = min(c.engine.MaxConnections, 65536) + numGranters
	c.engine.MaxSubscriptions = 0
}

// bringGrants makes options those of a server with the account.
func (n *node) bringGrants(o *engine.Options) {
	if !n.w.cfg.granting {
		return
	}
	gives := settings.User{Name: granterUsers[givesAnswers], Password: authSecret, Permissions: &settings.Permissions{
		Publish: &settings.SubjectPermission{Allow: []settings.Subject{{Text: "nothing"}}},
	}}
	if a := n.allowance; a.most > 0 {
		gives.Permissions.AllowResponses = &settings.ResponsePermission{Max: a.most, Expires: a.within}
	}
	o.Accounts = append(o.Accounts[:len(o.Accounts):len(o.Accounts)], settings.Account{
		Name: grantingAccount, Users: []settings.User{{Name: granterUsers[wantsAnswers], Password: authSecret}, gives},
	})
}

// regrant has a reload that is about to be carried out change what may be answered, or leave it. An answer may come in its very moment.
func (n *node) regrant() {
	if !n.w.cfg.granting {
		return
	}
	n.regranted++
	draw := func(purpose uint32, below int) int {
		return int(n.w.source.Below(decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: n.regranted}, uint64(below)))
	}
	if draw(grantMoment, 2) == 0 {
		n.grantAnswers(draw(grantMomentWhich, grantsKept))
	}
	if draw(grantChanges, 2) == 1 {
		if next := allowances[draw(grantAllowed, len(allowances))]; next != n.allowance {
			n.allowance = next
			n.allowancesChanged()
		}
	}
	n.bringGrants(&n.nextOptions)
}

// granter is one of the two, as it is connected to a process.
type granter struct {
	local
	// Of the one who gives answers:
	waits   bool // it waits to know whether an answer was taken
	refused bool
	nth     int // the request that it was for
	changed int // changes of the allowance when it was given
	at      engine.Instant
}

// grant is a request, as far as answers to it go.
type grant struct {
	changed  int            // changes of the allowance when it was asked
	asked    engine.Instant // when it was
	heard    engine.Instant // when it was read; 0: it has not been
	left     int            // answers that may be given
	within   time.Duration
	doubtful bool // it is not known how many
}

// grants are the requests of a process.
type grants struct {
	all     []grant
	changes int // of the allowance
	taken   int // answers that the server took
	got     int // answers that were read
}

// grantsKept is how many of the last requests answers are given to.
const grantsKept = 6

// Events: something happens, both leave, or one pongs.
const (
	grantersAct uint64 = iota
	grantersEnd
	granterPongs // + which
)

// Purposes of decisions about it, of a server's SimDetail.
const (
	grantWaits       = 145 // ms
	grantWhat        = 146 // one asks, or the other answers
	grantWhich       = 147 // what is answered
	grantMoment      = 148 // an answer comes in the moment of a reload
	grantMomentWhich = 149
	grantChanges     = 150 // a reload changes what may be answered
	grantAllowed     = 151 // to that
)

const grantWaitsMost = 150 // ms

// comeToGrant connects both.
func (n *node) comeToGrant() {
	if !n.w.cfg.granting || n.w.heardAll || n.stopping {
		return
	}
	n.grants, n.granters = grants{}, [numGranters]granter{}
	subs := [numGranters]string{"SUB _R.* 1\r\nSUB _R.> 2\r\nSUB *.* 3\r\nSUB *.> 4\r\nSUB > 5\r\nSUB _R.* 6\r\nSUB *.* 7\r\nSUB > 8\r\n", "SUB q 1\r\n"}
	for i := range n.granters {
		hello := `CONNECT {"verbose":false,"pedantic":false,"user":"` + granterUsers[i] + `","pass":"` + authSecret + "\"}\r\n" + subs[i]
		n.connectLocal(&n.granters[i].local, 40+i, propGranting, "who "+granterUsers[i]+" answers is turned away", hello)
	}
	n.after(nodeGranters, grantersAct, grantWaitsMost*millisecond)
}

// grantersDo has them do something, inside a turn.
func (n *node) grantersDo(what uint64) {
	switch what {
	case grantersAct:
		n.grantersAct()
	case grantersEnd:
		for i := range n.granters {
			n.localEnds(&n.granters[i].local)
		}
	default:
		n.localPongs(&n.granters[what-granterPongs].local)
	}
}

func (n *node) grantersAct() {
	if n.w.faults.over || n.stopping {
		return
	}
	n.grantActed++
	draw := func(purpose uint32, below int) int {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: n.life<<32 | n.grantActed}
		return int(n.w.source.Below(k, uint64(below)))
	}
	n.after(nodeGranters, grantersAct, schedule.Time(1+draw(grantWaits, grantWaitsMost))*millisecond)
	if draw(grantWhat, 3) > 0 {
		n.grantAnswers(draw(grantWhich, grantsKept))
		return
	}
	wants := &n.granters[wantsAnswers]
	if wants.id == 0 {
		return
	}
	now, _ := n.Now()
	n.grants.all = append(n.grants.all, grant{changed: n.grants.changes, asked: now})
	n.eng.Received(wants.id, []byte("PUB q _R."+strconv.Itoa(len(n.grants.all)-1)+" 0\r\n\r\n"))
}

// grantAnswers has one of the last requests answered.
func (n *node) grantAnswers(back int) {
	g, nth := &n.granters[givesAnswers], len(n.grants.all)-1-back
	if g.id == 0 || g.waits || nth < 0 || n.grants.all[nth].heard == 0 {
		return
	}
	g.waits, g.refused, g.nth, g.changed = true, false, nth, n.grants.changes
	g.at, _ = n.Now()
	n.eng.Received(g.id, []byte("PUB _R."+strconv.Itoa(nth)+" 0\r\n\r\nPING\r\n"))
}

// granterOf is which of them has that connection; -1: none.
func (n *node) granterOf(id engine.ConnID) int {
	for i := range n.granters {
		if n.granters[i].id == id && id != 0 {
			return i
		}
	}
	return -1
}

// grantersLog is told of log lines about connections that are closed; it reports whether this one is about one of them.
func (n *node) grantersLog(subject string) bool {
	for i := range n.granters {
		if n.localClosed(&n.granters[i].local, subject) {
			return true
		}
	}
	return false
}

// granterSends takes what the server sends to one of them.
func (n *node) granterSends(which int, bufs [][]byte) (taken int) {
	g := &n.granters[which]
	return n.localSends(&g.local, "who "+granterUsers[which]+" answers", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyGranters, n: granterPongs + uint64(which)})
		case saidPong:
			n.grantJudged()
		case saidMsg:
			n.grantHeard(which, in)
		case saidErr:
			if !g.waits || !strings.HasPrefix(string(in.args), "Permissions Violation for Publish to \"_R.") {
				n.w.fail(propGranting, "who "+granterUsers[which]+" answers is told "+string(in.args))
			}
			g.refused = true
		case saidInfo, saidOK:
		}
	})
}

// grantingWords tells what a decision about it is; empty: it is none.
func grantingWords(r decision.Record) string {
	if r.Actor.Class() != decision.Node || r.Kind != decision.SimDetail {
		return ""
	}
	switch r.Purpose {
	case grantWaits:
		return fmt.Sprintf("%d ms after the %dth request or answer comes the next", 1+r.Value, r.N&0xffffffff)
	case grantWhat:
		return "  … it is " + nameOf([]string{"a request", "an answer", "an answer"}, r.Value)
	case grantWhich:
		return fmt.Sprintf("  … to the last request but %d", r.Value)
	case grantMoment:
		return fmt.Sprintf("an answer comes with the %dth reload: choice %d", r.N, r.Value)
	case grantMomentWhich:
		return fmt.Sprintf("  … to the last request but %d", r.Value)
	case grantChanges:
		return fmt.Sprintf("the %dth reload changes what may be answered: choice %d", r.N, r.Value)
	case grantAllowed:
		return fmt.Sprintf("  … to %+v", allowances[min(int(r.Value), len(allowances)-1)])
	}
	return ""
}
