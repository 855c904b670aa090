package sim

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/natsd/natsd/sim/schedule"
)

// Of what an operator says about an account, the last word counts that the server has taken: whoever was told so finds that, or what
// was said later, in force, in the directory, and in every process that comes after. A word that was refused never counts, and each is
// taken or refused within a bounded time. Who is let in may use what its account's JWT imports of the server's own account.
// Nobody is a user of an account whose JWT has expired.

// propClaims is the name of the property.
const propClaims = "claims"

// claimsIn is within which time a server that nothing hinders answers the registrar.
const claimsIn = 10 * second

// probedIn is within which time it answers users. They are seldom let in for longer.
const probedIn = second

// word is something that the registrar has said about an account. The first of each account, which it has not said, is that there is
// none.
type word struct {
	gone    bool // there is none from then on
	revoked uint // otherwise: which users are revoked, as bits
	text    string
	expires int64  // when there is none any more, in seconds since the Unix epoch; 0: never
	limits  limits // what its members may have
	taken   bool   // the registrar was told that it counts
	refused bool   // … that it does not; of a deletion that failed nobody knows
	takenAt schedule.Time
}

// forgetWords begins the list of an account.
func (n *node) forgetWords() {
	for i := range n.words {
		n.words[i] = []word{{gone: true, taken: true}}
	}
	if n.w.cfg.archive == nil && n.w.cfg.allotted != nil { // the account is there from the first on
		n.words[allottedPlace] = []word{{limits: n.drawLimits(0), taken: true}}
	}
}

// over reports whether the word's time is over, and was so long ago.
func (w *word) over(n *node, long schedule.Time) bool {
	_, wall := n.Now()
	return w.expires > 0 && int64(wall) >= w.expires*int64(second)+int64(long)
}

// expiredIn is how long after an account's JWT has expired a server that nothing hinders may still let in who came before, and may
// have connections of its users.
const expiredIn = second

// least is the last word about an account that certainly counts, or one after it does.
func (n *node) least(account int) int {
	all := n.words[account]
	i := len(all) - 1
	for !all[i].taken {
		i--
	}
	return i
}

// mayCount reports whether a word of which f holds may count that was said from least on.
func (n *node) mayCount(account, least int, f func(*word) bool) bool {
	all := n.words[account]
	for i := least; i < len(all); i++ {
		if !all[i].refused && f(&all[i]) {
			return true
		}
	}
	return false
}

// registrarHears takes an answer to the registrar.
func (n *node) registrarHears(nth uint64, body []byte) {
	q := n.registrar.asked[nth]
	if q == nil {
		n.w.fail(propClaims, "the registrar has an answer to what it did not ask, or two to what it did: "+quote(body))
		return
	}
	delete(n.registrar.asked, nth)
	if q.word == 0 {
		n.lookedUp(q, string(body))
		return
	}
	var said struct {
		Data, Error *struct{ Code int }
	}
	if err := json.Unmarshal(body, &said); err != nil || (said.Data == nil) == (said.Error == nil) {
		n.w.fail(propClaims, "the registrar is answered what is no answer: "+quote(body))
		return
	}
	w := &n.words[q.account][q.word]
	w.taken, w.refused, w.takenAt = said.Data != nil, said.Error != nil && !w.gone, n.w.queue.Now()
	n.w.note(n.index, "word "+strconv.Itoa(q.word)+" about account "+strconv.Itoa(q.account)+" is taken: "+strconv.FormatBool(w.taken))
	if w.gone && w.taken && q.word == len(n.words[q.account])-1 && n.shelf.has(n.w.cfg.archive.accounts[q.account].public) {
		n.w.fail(propClaims, "the registrar is told that account "+strconv.Itoa(q.account)+" is gone, and the directory has it")
	}
}

// lookedUp judges what the directory is said to have.
func (n *node) lookedUp(q *request, text string) {
	if text == "" && n.shelf.failures > q.lapsed {
		return
	}
	if !n.mayCount(q.account, q.least, func(w *word) bool { return w.text == text }) {
		n.w.fail(propClaims, "looked up, account "+strconv.Itoa(q.account)+" has a JWT that counts no more, where word "+
			strconv.Itoa(q.least)+" was taken: "+quote([]byte(text)))
	}
}

// probed judges whether a user was let in.
func (n *node) probed(p *probe, in bool) {
	if p.over {
		return
	}
	p.over = true
	if !in && (n.shelf.failures > p.lapsed || n.hindered()) {
		return
	}
	if !n.mayCount(p.account, p.least, func(w *word) bool {
		if !in && w.over(n, 0) {
			return true
		}
		return in == (!w.gone && w.revoked>>p.user&1 == 0) && !(in && w.over(n, expiredIn) && !n.hindered())
	}) {
		n.w.fail(propClaims, "user "+strconv.Itoa(p.user)+" of account "+strconv.Itoa(p.account)+" was let in: "+strconv.FormatBool(in)+
			", which no word says from "+strconv.Itoa(p.least)+" on, which was taken")
	}
}

// probeHears judges how many the server says to listen in a user's account to what all its users do.
func (n *node) probeHears(p *probe, count string) {
	if k, err := strconv.Atoi(count); err != nil || k < 1 || k > numProbes || p.heard {
		n.w.fail(propClaims, "a user of account "+strconv.Itoa(p.account)+" is told, by what its JWT imports, that there listen: "+quote([]byte(count)))
	}
	p.heard = true
}

// checkAnswered looks for requests of the registrar that should have been answered.
func (n *node) checkAnswered() {
	now := n.w.queue.Now()
	if n.hindered() || n.paused > 0 {
		return
	}
	for i := range n.probes {
		if p := &n.probes[i]; p.stays() && p.in > 0 && !p.heard && now-max(p.in, n.sickUntil) > probedIn {
			n.w.fail(propClaims, "a user of account "+strconv.Itoa(p.account)+" has no answer by what its JWT imports of the server's own account")
		}
	}
	oldest, nth := schedule.Time(-1), uint64(0)
	for i, q := range n.registrar.asked { //natsd:orderfree the least of them is found
		if oldest < 0 || q.at < oldest || q.at == oldest && i < nth {
			oldest, nth = q.at, i
		}
	}
	if oldest >= 0 && now-max(oldest, n.sickUntil) > claimsIn {
		q := n.registrar.asked[nth]
		n.w.fail(propClaims, "the registrar has no answer after "+time.Duration(now-oldest).String()+": word "+strconv.Itoa(q.word)+
			" about account "+strconv.Itoa(q.account))
	}
}
