package sim

import (
	"time"

	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/schedule"
)

// What clients do where services cross accounts: they ask those that their account imports, and answer requests once, several
// times, late or not at all.

// tardiness is how long a client may take to answer.
var tardiness = [...]schedule.Time{0, 0, 10 * millisecond, 400 * millisecond, 3 * second / 2, 3 * second}

// reply is an answer to be given.
type reply struct {
	subject string
	times   int
}

// serves draws whether a subscription answers requests.
func (c *client) serves(s slotKey) bool {
	return c.servicesThere() && s.below(detailServes, 2) == 0
}

func (c *client) servicesThere() bool { return c.user != "" && c.w.cfg.tenants.services }

// drawUser draws the client's user: of those that ask and answer, mostly one in whose account there is something to ask, or to
// answer; in an upheaval mostly one that it concerns.
func (c *client) drawUser(users int) int {
	t := c.w.cfg.tenants
	var fit []int
	for i := range users {
		fits := t.concerned(i, c)
		switch {
		case t.answerers && c.kind == kindResponder:
			fits = t.limits[i] != nil && len(t.served[i]) > 0
		case t.upheaval != unserved && !t.overheard:
			fits = fits || c.kind == kindRequester && len(t.asked[i]) > 0 || c.kind == kindResponder && len(t.served[i]) > 0
		}
		if fits {
			fit = append(fit, i)
		}
	}
	if len(fit) > 0 && c.trait(traitFit, 4) < 3 {
		return fit[c.trait(traitUser, uint64(len(fit)))]
	}
	return int(c.trait(traitUser, uint64(users)))
}

// answerers draws whether in each account somebody may do nothing but subscribe and answer, a few times: those who answer are
// mostly that user then.
func (d draw) answerers(t *tenants) {
	if d.of(cfgAnswerers, 0, 0, 1) != 1 {
		return
	}
	t.answerers = true
	for v, r := range t.versions {
		for i := range r.Accounts {
			for j := range r.Accounts[i].Users {
				if u := &r.Accounts[i].Users[j]; u.Name[len(u.Name)-1] == '2' {
					u.May = &model.Permissions{Responses: &model.ResponseLimit{Max: 1 + (i+v)%2, Expires: answersFor}}
				}
			}
		}
	}
}

// answersFor is how long such a user may answer: less than some take to do so.
const answersFor = time.Second

// drawTimes draws how often a subscription answers a request, less one: below zero not at all. Who may answer a number of times
// only does so up to that number, or as often as is certainly too often.
func (c *client) drawTimes(s slotKey) int {
	if !c.servicesThere() || c.w.cfg.tenants.overheard {
		return 0
	}
	times := [...]int{0, 0, 0, 0, 1, 2, -1}
	if l := c.w.cfg.tenants.limits[c.traits.user]; l != nil {
		tooOften := l.Max * servesMost
		times = [...]int{0, l.Max - 1, l.Max, tooOften, tooOften, tooOften, -1}
	}
	return times[s.below(detailTimes, uint64(len(times)))]
}

// drawServed draws what to subscribe to in order to answer: mostly a service of the client's account.
func (c *client) drawServed(s slotKey) string {
	if c.w.cfg.unanswered {
		return s.drawUnanswered()
	}
	if c.servicesThere() {
		if c.w.cfg.tenants.overheard && c.kind == kindResponder {
			return betweenSubject
		}
		if all := c.w.cfg.tenants.served[c.traits.user]; len(all) > 0 && s.below(detailServes, 4) < 3 {
			return all[s.below(detailService, uint64(len(all)))]
		}
	}
	return c.drawPattern(s)
}

// drawAsked draws what to ask: mostly a service that the client's account imports.
func (c *client) drawAsked(s slotKey, subj string) string {
	if c.w.cfg.unanswered {
		return s.drawUnanswered()
	}
	if c.servicesThere() {
		if c.insists() {
			return betweenSubject
		}
		if all := c.w.cfg.tenants.asked[c.traits.user]; len(all) > 0 && s.below(detailServes, 4) < 3 {
			return all[s.below(detailService, uint64(len(all)))]
		}
	}
	return subj
}

// answerLater gives an answer as soon as the client does.
func (c *client) answerLater(subj string, times int) {
	if times <= 0 {
		return
	}
	if c.traits.tardy == 0 {
		c.answer(reply{subj, times})
		return
	}
	c.answers = append(c.answers, reply{subj, times})
	c.later(clientAnswer, c.traits.tardy)
}

// answerNow gives the answer that has waited longest.
func (c *client) answerNow() {
	if len(c.answers) == 0 || c.state < clientOpening {
		return
	}
	r := c.answers[0]
	c.answers = c.answers[1:]
	c.answer(r)
	c.flush()
}

func (c *client) answer(r reply) {
	for range r.times {
		if c.told == nil || c.full() || c.halfClosed || c.fatal {
			return
		}
		c.publish(message{subject: r.subject, size: stampSize})
	}
}

// drawHeard draws a pattern of what the client's account imports; empty: it is about something else.
func (c *client) drawHeard(s slotKey) string {
	if c.user == "" {
		return ""
	}
	all := c.w.cfg.tenants.heard[c.traits.user]
	if len(all) == 0 || s.below(detailShared, 3) == 0 {
		return ""
	}
	return all[s.below(detailStream, uint64(len(all)))]
}

// drawTold draws the subject of the ith message: that, or one that the client's account exports.
func (c *client) drawTold(s slotKey, i uint32, subj string) string {
	if c.user == "" {
		return subj
	}
	all := c.w.cfg.tenants.told[c.traits.user]
	if len(all) == 0 || s.each(detailShared, i, 3) < 2 {
		return subj
	}
	return all[s.each(detailStream, i, uint64(len(all)))]
}
