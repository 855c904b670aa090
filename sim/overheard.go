package sim

// Where reloads change accounts, answers are seldom under way when one comes: mostly one client hears them. In some runs in which
// third accounts are near (tenants_between.go) many do who are in the account that asks, and turns do little, so that each answer
// takes several; and others ask in the moment of a reload.

const (
	// earSubs is how many subscriptions somebody has at most who overhears answers.
	earSubs = 8
	// overheardTurns bounds TurnWork where answers are overheard.
	overheardTurns = 3
)

// overhear has answers overheard.
func (d draw) overhear(c *config) {
	c.clients, c.budget = 16, max(c.budget, 512) // else those who answer wait for ever behind what they have answered
	c.engine.TurnWork = 1 + int(d.source.Below(d.key(cfgOverheardTurns), overheardTurns))
	c.engine.MaxSubscriptions, c.engine.MaxConnections = 0, 65536
	c.kinds[kindEar] += 24
	c.kinds[kindRequester] += 32
	c.kinds[kindResponder] += 24
}

// earPatterns are what they subscribe to.
var earPatterns = [...]string{inboxReply + ">", inboxReply + "*.>", inboxReply + "*.*.*", ">"}

// overhear makes some subscriptions to the answers that others get.
func (c *client) overhear(s slotKey) {
	for i := range uint32(1 + s.below(detailCount, earSubs)) {
		if len(c.subs) >= earSubs || c.full() {
			break
		}
		patterns := uint64(len(earPatterns))
		if c.w.cfg.unanswered {
			patterns-- // else it would get the requests, too
		}
		c.subscribe(earPatterns[s.each(detailWild, i, patterns)], "", false)
	}
	c.ping()
}

// overhears reports whether a user is one that a client which has to do with answers is rather than others: if the client gives them,
// of the account that is asked, and otherwise of that which asks.
func (t *tenants) overhears(user int, c *client) bool {
	_, account := t.versions[0].User(t.users[user])
	switch c.kind {
	case kindResponder:
		return account == t.versions[0].Accounts[0].Name && t.open[user]
	case kindRequester, kindEar:
		return account == t.versions[0].Accounts[1].Name && t.open[user]
	}
	return false
}

// insists reports whether the client asks one service and nothing else, while reloads come.
func (c *client) insists() bool {
	return c.w.cfg.tenants.overheard && c.kind == kindRequester
}
