package sim

import (
	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/schedule"
)

// A collector is a client with so many subscriptions that they follow a reload over several turns. Where reloads change what
// most users may get, it is such a user, and often leaves around the moment of one: before, while or after its subscriptions
// follow. What comes meanwhile finds some of them as they were.

const (
	// collectorSubs is how many subscriptions a collector has at most: more than the engine goes through at once, however long
	// its turns are.
	collectorSubs = 40
	// collectedMost is how many it makes in one go.
	collectedMost = 24
)

// collect has a run with collectors in it. turns chooses among bounds of TurnWork.
func (c *config) collect(turns int) {
	c.kinds[kindCollector] += 40
	c.clients = max(c.clients, 16)
	c.engine.TurnWork = min(c.engine.TurnWork, movedTurns[turns])
	c.engine.MaxSubscriptions = 0
}

// collect makes some subscriptions.
func (c *client) collect(s slotKey) {
	for i := range uint32(1 + s.below(detailCount, collectedMost)) {
		if len(c.subs) >= collectorSubs || c.full() {
			return
		}
		c.subscribe(c.collected(s, i), c.collectedQueue(s, i), false)
	}
	c.ping()
}

// collected draws the ith pattern: rather one that some permissions speak of in part.
func (c *client) collected(s slotKey, i uint32) string {
	wide := [...]string{">", "*", "*.*", "*.>"}
	if which := s.each(detailWild, i, uint64(2*len(wide))); which < uint64(len(wide)) {
		return wide[which]
	}
	return c.w.cfg.subjects[s.each(detailSubject, i, uint64(len(c.w.cfg.subjects)))]
}

func (c *client) collectedQueue(s slotKey, i uint32) string {
	names := queueNames[:]
	if s.each(detailHow, i, 3) > 0 {
		return ""
	}
	return names[s.each(detailQueue, i, uint64(len(names)))]
}

// deprivations are what somebody may not get who may get all else.
var deprivations = [...]string{"a", "a.*", "*.b", "b", "*", "a.b", "*.a", "im.>", "z.>", "c", "a q1", "* q2"}

// deprived draws permissions to have all but a part.
func (d *tenantDraw) deprived() *model.Permissions {
	p := &model.Permissions{}
	for range 1 + d.below(2) {
		p.Subscribe.Deny = append(p.Subscribe.Deny, deprivations[d.below(len(deprivations))])
	}
	return p
}

// permitOthers draws what most users may get by the first configuration, and by another one.
func (d draw) permitOthers(first, other *model.Rules) {
	for i := range first.Accounts {
		td := &tenantDraw{draw: d, base: cfgTenant + uint32(16+i)*tenantStep}
		for j := 1; j < len(first.Accounts[i].Users); j++ {
			td.at(uint32(j))
			before, after := &first.Accounts[i].Users[j].May, &other.Accounts[i].Users[j].May
			*before, *after = td.deprived(), nil
			if td.below(5) == 0 {
				*after = td.deprived()
			}
			if td.below(2) == 0 {
				*before, *after = *after, *before
			}
		}
		if td.at(9); td.below(3) == 0 { // somebody moves, too
			a, next := &other.Accounts[i], &other.Accounts[(i+1)%len(other.Accounts)]
			u := a.Users[len(a.Users)-1]
			a.Users = a.Users[:len(a.Users)-1]
			next.Users = append(next.Users, u)
		}
	}
}

// leaveAround draws whether a collector leaves around the moment of a reload that is read for so long, and when. It reports
// whether it does.
func (c *client) leaveAround(s slotKey, takes schedule.Time) bool {
	if c.kind != kindCollector {
		return false
	}
	const steps = 32
	at := schedule.Time(s.below(detailLeaveAt, steps))
	switch s.below(detailMomentLeave, 4) {
	case 0:
		return false
	case 1, 2: // what its leaving waits behind is the reload
		c.later(clientLeave, takes*at/steps)
	default: // while its subscriptions follow
		trip := c.w.cfg.net.Link.Latency
		c.later(clientLeave, max(takes-trip, 0)+at*schedule.Time(4000*c.w.cfg.slow))
	}
	return true
}

// leave ends the connection, in one way or another.
func (c *client) leave() {
	if !c.mayRush() {
		return
	}
	if c.index%3 == 0 {
		c.conn.Abort()
	}
	c.drop("left around a reload")
}
