package sim

import (
	"slices"
	"strconv"

	"github.com/natsd/natsd/sim/model"
)

// Where a mapping leaves the way of a message to chance, each way has its share of the messages. In some runs with accounts one
// account maps a subject of its own like that, in all configurations alike; a client of it, whom nothing is forbidden, throws
// these dice often and gets what it throws. Over the run each share must be what the mapping says, loss included.

// propShares is the name of the property.
const propShares = "shares"

// The dice, and who throws them.
const (
	diceSubject = "dice"
	diceUser    = "gambler"
	diceSecret  = "secret-dice"
	diceThrown  = 60   // at a time
	diceEnough  = 9000 // in a run
)

// diceOdds are what dice are mapped to.
func diceOdds(which uint64) []model.Destination {
	switch which {
	case 0:
		return []model.Destination{{Subject: "dice.1", Weight: 1}, {Subject: "dice.2", Weight: 99}}
	case 1: // what is left stays
		return []model.Destination{{Subject: "dice.1", Weight: 1}}
	case 2:
		return []model.Destination{{Subject: "dice.1", Weight: 20}, {Subject: "dice.2", Weight: 30}, {Subject: "dice.3", Weight: 50}}
	}
	return []model.Destination{{Subject: "dice.1", Weight: 70}, {Subject: "dice.2", Weight: 29}, {Subject: diceSubject, Weight: 0}} // what is left is lost
}

// dice draws whether an account has dice, and gives them to it in every configuration.
func (d draw) dice(t *tenants, c *config) {
	n := len(t.versions[0].Accounts)
	at := int(d.source.Below(d.key(cfgTenantDice), uint64(2*n)))
	if at >= n {
		return
	}
	odds := diceOdds(d.source.Below(d.key(cfgTenantOdds), 4))
	for _, r := range t.versions {
		a := &r.Accounts[at]
		a.Mappings = append(slices.Clip(a.Mappings), model.Mapping{Subject: diceSubject, Destinations: odds})
		a.Users = append(slices.Clip(a.Users), model.User{Name: diceUser, Password: diceSecret})
	}
	for _, way := range t.versions[0].Routes(t.versions[0].Accounts[at].Name, diceSubject) {
		i := slices.IndexFunc(t.dice, func(s share) bool { return s.subject == way.Subject })
		if i < 0 { // else it goes on to a service in several ways
			i = len(t.dice)
			t.dice = append(t.dice, share{subject: way.Subject})
		}
		t.dice[i].weight += int64(way.Weight)
	}
	c.kinds[kindGambler] = 6
}

// share is one way that the dice can take.
type share struct {
	subject string
	weight  int64 // percent
}

// throw is one message, and where it came out.
type throw struct {
	n     uint64 // its number
	pings uint64 // written before it
	way   int    // 1 for the first; 0: it has not come
}

// gamble throws the dice a number of times, if those before have come to rest.
func (c *client) gamble() {
	if len(c.subs) == 0 {
		c.subscribe(diceSubject, "", false)
		c.subscribe(diceSubject+".*", "", false)
		c.ping()
		return
	}
	if c.ledger.pongs > 0 || c.w.threw > diceEnough {
		return
	}
	c.w.threw += diceThrown
	for range diceThrown {
		c.throws = append(c.throws, throw{n: uint64(len(c.published)), pings: c.pings})
		c.publish(message{subject: diceSubject, size: stampSize})
	}
	c.ping()
}

// landed notes where a throw came out.
func (c *client) landed(n uint64, subj []byte) {
	at, ok := slices.BinarySearchFunc(c.throws, n, func(t throw, n uint64) int { return int(t.n) - int(n) })
	if !ok {
		return
	}
	for i, s := range c.w.cfg.tenants.dice {
		if s.subject == string(subj) {
			c.throws[at].way = i + 1
		}
	}
}

// count adds up the throws of a connection. The last ones before it ended may have been lost with it: those do not count,
// whatever is known of them.
func (c *client) count() {
	answered := c.answeredPings()
	for _, t := range c.throws {
		if t.pings+2 < answered {
			c.w.thrown[t.way]++
		}
	}
	c.throws = c.throws[:0]
}

// checkShares holds the dice of the whole run against their mapping.
func (w *world) checkShares() {
	for _, c := range w.clients {
		if c != nil {
			c.count()
		}
	}
	if w.cfg.tenants == nil {
		return
	}
	total, left := int64(0), int64(100)
	for _, n := range w.thrown {
		total += n
	}
	for i, s := range w.cfg.tenants.dice {
		left -= s.weight
		w.checkShare(w.thrown[i+1], total, s.weight, "on "+s.subject)
	}
	w.checkShare(w.thrown[0], total, left, "lost")
}

func (w *world) checkShare(got, total, weight int64, how string) {
	if unlikely(got, total, weight) {
		w.fail(propShares, "of "+strconv.FormatInt(total, 10)+" messages that a mapping leaves to chance "+strconv.FormatInt(got, 10)+
			" were "+how+", not "+strconv.FormatInt(weight, 10)+"%")
	}
}

// surprise is the exponent of what counts as chance: less likely than exp(-surprise) does not.
const surprise = 24

// unlikely reports whether something that happens in weight percent of all cases can hardly have happened so often by chance:
// by the bounds of Bernstein and, for too few, of Chernoff.
func unlikely(got, total, weight int64) bool {
	off := 100*got - total*weight // hundredths
	if off < 0 && off*off > 2*surprise*100*total*weight {
		return true
	}
	far := max(off, -off)
	return 3*far*far > 2*surprise*(3*total*weight*(100-weight)+100*far)
}
