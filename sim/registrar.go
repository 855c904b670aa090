package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Where the server keeps account JWTs, a registrar in its own account tells it of new ones, often of several of one account in a
// moment, has accounts deleted, and looks them up; and users of these accounts come, to see whether they are let in. All are on the
// server's own machine. What follows is property_claims.go.

// numProbes is how many of the users can be there at a time.
const numProbes = 3

// numArchiveLocals is how many connections all of them have.
const numArchiveLocals = 1 + numProbes

// registrar is the one of a process.
type registrar struct {
	local
	ready bool // it was let in, and hears answers
	acts  uint64
	// looked is how many accounts users have come to in that process.
	looked int
	sent   uint64              // requests
	asked  map[uint64]*request // that wait for an answer
}

// request is something that the registrar has asked.
type request struct {
	account int
	word    int           // which it has said about the account; 0: it has looked it up
	least   int           // the word that certainly counted when it was asked
	at      schedule.Time // when
	lapsed  uint64        // operations of the directory that had failed
}

// probe is a user that comes to see whether it is let in.
type probe struct {
	local
	account, user int
	least         int
	lapsed        uint64
	over          bool          // it has seen that
	in            schedule.Time // since when it waits, let in, for an answer; 0: it does not
	heard         bool          // it has the answer
}

// stays reports whether it is there and the server has not said that it closes the connection.
func (p *probe) stays() bool { return p.id != 0 && p.name != "" }

// probeAsks is the subject under which accounts import a service that the server's own account exports by itself: it counts who
// listens in an account. Users ask it of a subject on which all of them listen.
const probeAsks = "who.hears"

// What they do: events of a node.
const (
	archiveActs  uint64 = iota
	archivePongs        // the registrar
	archiveEnds         // all leave
	archiveProbe        // + which, twice: it pongs, or leaves
)

// Purposes of a server's decisions about it, of SimDetail.
const (
	archiveDoes    = 120
	archiveWhich   = 121
	archiveUser    = 122
	archiveHow     = 123
	archiveWaits   = 124 // ms
	archiveExpires = 125
)

// What the registrar does, and how likely.
const (
	registrarUpdates = iota
	registrarInsists // updates several times
	registrarDeletes
	registrarRepents // deletes, and updates at once
	registrarLooks
	registrarSends // a user
	registrarAllots
)

var registrarMix = [...]uint32{registrarUpdates: 5, registrarInsists: 4, registrarDeletes: 1, registrarRepents: 2, registrarLooks: 4, registrarSends: 10, registrarAllots: 6}

const (
	archiveWaitsMost = 150 // ms
	archiveCalm      = 6
)

// comeToArchive connects the registrar, inside a turn.
func (n *node) comeToArchive() {
	a := n.w.cfg.archive
	if a == nil || n.w.heardAll || n.stopping {
		return
	}
	n.registrar, n.probes = registrar{asked: make(map[uint64]*request)}, [numProbes]probe{}
	u := userToken(nil)
	u.Bearer = true
	hello := `CONNECT {"verbose":false,"pedantic":false,"jwt":"` + a.system.sign(token{Subject: a.registrar.public, Issued: 1, Nats: u}) + `"}`
	if n.connectLocal(&n.registrar.local, 10, propClaims, "the registrar is turned away", hello+"\r\nSUB R.* 1\r\nPING\r\n") {
		n.after(nodeArchive, archiveActs, archiveWaitsMost*millisecond)
	}
}

// archiveDoes has them do something, inside a turn.
func (n *node) archiveDoes(what uint64) {
	r := &n.registrar
	switch {
	case what == archiveActs:
		n.registrarActs()
	case what == archivePongs && r.id != 0:
		n.eng.Received(r.id, []byte("PONG\r\n"))
	case what == archiveEnds:
		if r.id != 0 {
			n.eng.EOF(r.id)
		}
		for i := range n.probes {
			n.probeLeaves(&n.probes[i])
		}
	case what >= archiveProbe:
		p := &n.probes[(what-archiveProbe)/2]
		if (what-archiveProbe)%2 == 1 {
			n.probeLeaves(p)
		} else if p.id != 0 {
			n.eng.Received(p.id, []byte("PONG\r\n"))
		}
	}
}

func (n *node) probeLeaves(p *probe) {
	if p.id != 0 {
		n.eng.EOF(p.id)
	}
}

// registrarActs has the registrar do the next thing.
func (n *node) registrarActs() {
	r := &n.registrar
	if r.id == 0 || n.w.heardAll || n.stopping {
		return
	}
	r.acts++
	draw := func(purpose uint32, below uint64) uint64 {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: purpose, N: n.life<<32 | r.acts}
		return n.w.source.Below(k, below)
	}
	wait := schedule.Time(1+draw(archiveWaits, archiveWaitsMost)) * millisecond
	if n.w.cfg.archive.expiring { // else what expires is overtaken before
		wait *= archiveCalm
	}
	n.after(nodeArchive, archiveActs, wait)
	n.checkAnswered()
	if !r.ready {
		return
	}
	k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: archiveDoes, N: n.life<<32 | r.acts}
	account := int(draw(archiveWhich, archiveAccounts))
	if r.looked < archiveAccounts { // the process does not know the account yet: it looks for it, and is told of it meanwhile
		n.comeToProbe(r.looked, int(draw(archiveUser, archiveUsers)))
		n.say(r.looked, uint(draw(archiveHow, 1<<archiveUsers)), false)
		r.looked++
		return
	}
	switch n.w.source.Pick(k, registrarMix[:]) {
	case registrarUpdates:
		n.say(account, uint(draw(archiveHow, 1<<archiveUsers)), false)
	case registrarInsists:
		for i := range 2 + draw(archiveUser, 3) {
			n.say(account, uint(draw(archiveHow|uint32(i)<<8, 1<<archiveUsers)), false)
		}
	case registrarDeletes:
		n.say(account, 0, true)
	case registrarRepents:
		n.say(account, 0, true)
		n.say(account, uint(draw(archiveHow, 1<<archiveUsers)), false)
	case registrarLooks:
		n.requests("$SYS.REQ.ACCOUNT."+n.w.cfg.archive.accounts[account].public+".CLAIMS.LOOKUP", "", account, 0)
	case registrarSends:
		n.comeToProbe(account, int(draw(archiveUser, archiveUsers)))
	case registrarAllots:
		if n.w.cfg.allotted != nil {
			n.say(allottedPlace, 0, false)
		}
	}
}

// say tells the server of another JWT of an account, or has it deleted.
func (n *node) say(account int, revoked uint, gone bool) {
	a, all := n.w.cfg.archive, &n.words[account]
	w := word{gone: gone, revoked: revoked, limits: boundless}
	nth := len(*all)
	if account == allottedPlace {
		w.limits = n.drawLimits(nth)
	}
	subj, body := "$SYS.REQ.CLAIMS.UPDATE", ""
	if gone {
		subj, body = "$SYS.REQ.CLAIMS.DELETE", a.deletion(&a.accounts[account])
	} else {
		w.expires = n.drawExpiry(account, nth)
		w.text = a.account(&a.accounts[account], int64(nth)+1, revoked, w.limits, w.expires)
		body = w.text
	}
	*all = append(*all, w)
	n.w.note(n.index, "word "+strconv.Itoa(nth)+" about account "+strconv.Itoa(account)+": gone "+strconv.FormatBool(gone)+", revoked "+strconv.Itoa(int(revoked)))
	n.requests(subj, body, account, nth)
}

// drawExpiry draws when a JWT that the registrar is about to say expires, in seconds since the Unix epoch; 0: never.
func (n *node) drawExpiry(account, nth int) int64 {
	k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: archiveExpires | uint32(account)<<8, N: uint64(nth)}
	if !n.w.cfg.archive.expiring {
		return 0
	}
	long := int64(n.w.source.Below(k, 12)) - 7
	if long <= 0 {
		return 0
	}
	_, wall := n.Now()
	return int64(wall)/int64(second) + 1 + long
}

// requests has the registrar ask for something about an account.
func (n *node) requests(subj, body string, account, nth int) {
	r := &n.registrar
	r.sent++
	r.asked[r.sent] = &request{account, nth, n.least(account), n.w.queue.Now(), n.shelf.failures}
	n.eng.Received(r.id, []byte("PUB "+subj+" R."+strconv.FormatUint(r.sent, 10)+" "+strconv.Itoa(len(body))+"\r\n"+body+"\r\n"))
}

// comeToProbe has a user of an account come.
func (n *node) comeToProbe(account, user int) {
	for i := range n.probes {
		p := &n.probes[i]
		if p.id != 0 || p.name != "" {
			continue
		}
		*p = probe{account: account, user: user, least: n.least(account), lapsed: n.shelf.failures}
		inbox := "I." + strconv.Itoa(i) // others of the account get no answers of this one
		hello := `CONNECT {"verbose":false,"pedantic":false,"jwt":"` + n.w.cfg.archive.user(account, user) + `"}` +
			"\r\nSUB R 1\r\nSUB " + inbox + " 2\r\nPUB " + probeAsks + " " + inbox + " 1\r\nR\r\nPING\r\n"
		n.connectLocal(&p.local, 11+i, propClaims, "a user is turned away though there is room", hello)
		return
	}
}

// archiveLocal is which of them has that connection: 0 the registrar, otherwise 1 more than which user; -1: none.
func (n *node) archiveLocal(id engine.ConnID) int {
	if id == 0 {
		return -1
	}
	if n.registrar.id == id {
		return 0
	}
	for i := range n.probes {
		if n.probes[i].id == id {
			return 1 + i
		}
	}
	return -1
}

// archiveLog is told of log lines about connections that are closed; it reports whether this one is about one of them.
func (n *node) archiveLog(subject string) bool {
	if n.localClosed(&n.registrar.local, subject) {
		n.registrar.ready = false
		return true
	}
	for i := range n.probes {
		if n.localClosed(&n.probes[i].local, subject) {
			return true
		}
	}
	return false
}

// archiveSends takes what the server sends to one of them.
func (n *node) archiveSends(which int, bufs [][]byte) (taken int) {
	if which == 0 {
		return n.localSends(&n.registrar.local, "the registrar", bufs, func(in *inbound) {
			switch in.verb {
			case saidPing:
				n.tell(ready{kind: readyArchive, n: archivePongs})
			case saidPong:
				n.registrar.ready = true
			case saidMsg:
				_, number, _ := strings.Cut(string(in.subject), ".")
				nth, _ := strconv.ParseUint(number, 10, 64) // which was sent to it as one
				n.registrarHears(nth, in.payload)
			case saidInfo, saidOK, saidErr:
			}
		})
	}
	p, what := &n.probes[which-1], archiveProbe+2*uint64(which-1)
	return n.localSends(&p.local, "a user of an account that is kept", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyArchive, n: what})
		case saidPong:
			n.probed(p, true)
			if p.in = n.w.queue.Now(); p.heard {
				n.tell(ready{kind: readyArchive, n: what + 1})
			}
		case saidMsg:
			n.probeHears(p, string(in.payload))
			if p.in > 0 {
				n.tell(ready{kind: readyArchive, n: what + 1})
			}
		case saidErr:
			if strings.HasPrefix(string(in.args), "Authorization Violation") {
				n.probed(p, false)
			}
			p.over = true
		case saidInfo, saidOK:
		}
	})
}

// archiveClosed is the end of the connection of one of them.
func (n *node) archiveClosed(which int) {
	if which == 0 {
		n.registrar = registrar{local: local{name: n.registrar.name}}
		return
	}
	p := &n.probes[which-1]
	*p = probe{local: local{name: p.name}}
}

// archiveWords tells what a decision about account JWTs that are kept is; empty: it is none.
func archiveWords(r decision.Record) string {
	if r.Actor.Class() != decision.Node || r.Kind != decision.SimDetail && r.Kind != decision.SimFault {
		return ""
	}
	switch r.Purpose & 0xff {
	case shelfFails:
		return fmt.Sprintf("operation %d of the directory of account JWTs fails", r.N)
	case shelfTakes:
		return fmt.Sprintf("operation %d of the directory of account JWTs takes %v longer", r.N, time.Duration(r.Value))
	case shelfCrash:
		return fmt.Sprintf("of what the directory of account JWTs does, %d are carried out when process %d ends", r.Value, r.N)
	case archiveDoes:
		return fmt.Sprintf("the registrar does, for the %dth time: %s", r.N&0xffffffff, nameOf(registrarNames[:], r.Value))
	case archiveWhich:
		return fmt.Sprintf("  … about account %d", r.Value)
	case archiveUser, archiveHow:
		return fmt.Sprintf("  … with %d", r.Value)
	case archiveExpires:
		return fmt.Sprintf("JWT %d of account %d expires: choice %d", r.N, r.Purpose>>8, r.Value)
	case archiveWaits:
		return fmt.Sprintf("  … %d ms before the next time", 1+r.Value)
	}
	return ""
}

var registrarNames = [...]string{"an update", "several updates", "a deletion", "a deletion and an update", "a lookup", "a login", "other limits"}
