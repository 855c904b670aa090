package sim

import (
	"slices"

	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/oracle"
)

// What senders of garbage get across where there are accounts: after their login what their account and permissions let them,
// where imports bring it; before it nothing, and nothing either as somebody else whose password they only guess.

// garbageLines are what garbage is made of: lawful lines, of which bytes are changed, dropped or doubled.
var garbageLines = [...]string{
	"PUB garbage.one 11\r\nhello world\r\n",
	"PUB garbage.two garbage.reply 5\r\nhello\r\n",
	"SUB garbage.> 777\r\n",
	"SUB a.> garbage-queue 778\r\n",
	"UNSUB 777 5\r\n",
	"PING\r\n",
	"PONG\r\n",
	"CONNECT {\"verbose\":true,\"pedantic\":false,\"headers\":true}\r\n",
	"HPUB garbage.three 12 17\r\nNATS/1.0\r\n\r\nhello\r\n",
	"INFO {}\r\n",
	"+OK\r\n",
	"-ERR 'x'\r\n",
	"\r\n\r\n",
	"PUB > 3\r\nabc\r\n",
	// Where there are accounts, what these share, and what their users may do:
	"PUB a 5\r\nstray\r\n",
	"PUB b garbage.reply 5\r\nstray\r\n",
	"PUB a.b 5\r\nstray\r\n",
	"PUB b.a garbage.reply 5\r\nstray\r\n",
	"HPUB a.a 12 17\r\nNATS/1.0\r\n\r\nstray\r\n",
	"PUB im.a 5\r\nstray\r\n",
	"PUB z.a 5\r\nstray\r\n",
	"SUB > 779\r\n",
	"SUB *.* 780\r\n",
	"CONNECT {\"user\":\"user-00\",\"pass\":\"guessed\"}\r\n",
	"CONNECT {\"user\":\"user-10\"}\r\n",
	"CONNECT {}\r\n",
}

// garbagePlain is how many of them there are without accounts.
const garbagePlain = 14

// garbageKinds is how many lines there are to choose from.
func (w *world) garbageKinds() uint64 {
	if w.cfg.tenants == nil {
		return garbagePlain
	}
	return uint64(len(garbageLines))
}

// littered draws whether there are senders of garbage where there are accounts: as many as there would be without.
func (d draw) littered(c *config, as uint32) {
	if d.of(cfgTenantGarbage, 0, 0, 1) == 1 {
		c.kinds[kindGarbage] = max(as, 2)
	}
}

// garbageFirst has a sender of garbage, perhaps, send some before it logs in. It reports whether that was so.
func (c *client) garbageFirst() bool {
	s := slotKey{c, c.dial | garbageDials}
	if c.kind != kindGarbage || c.user == "" || !c.hostile || s.below(detailVariant, 2) == 0 {
		return false
	}
	c.state = clientOpening
	if c.w.cfg.mayBeNobody() { // it is let in as it is
		c.told = c.node.oracle.Open(c.id, oracle.ConnOptions{Echo: true, User: model.Nobody})
		c.believed[c.dial] = c.told
		c.w.litters(model.Nobody)
	}
	c.sendGarbage(s)
	c.flush()
	return true
}

// pretend has the client say that it is somebody else, whose password it does not know, and publish what that one might.
func (c *client) pretend(s slotKey) {
	users, subjects := c.w.cfg.tenants.users, c.w.cfg.subjects
	c.out = append(append(c.out, `CONNECT {"verbose":false,"user":"`...), users[s.below(detailQueue, uint64(len(users)))]...)
	c.out = append(c.out, `","pass":"guessed"}`+"\r\n"...)
	for i := range uint32(1 + s.below(detailCount, 8)) {
		c.out = append(append(c.out, "PUB "...), subjects[s.each(detailSubject, i, uint64(len(subjects)))]...)
		c.out = append(c.out, " 5\r\nstray\r\n"...)
	}
}

// garbageDials marks decisions about dials among those about slots.
const garbageDials = 1 << 40

// forsake gives up knowing what the server makes of the connection: it may subscribe to anything from here on.
func (c *client) forsake() {
	c.garbage = true
	if c.told == nil {
		return
	}
	if c.user != "" {
		c.w.litters(c.user)
	}
	c.node.oracle.Forsake(c.told)
	c.told = nil
}

// litters notes that what nobody knows is published by a user.
func (w *world) litters(user string) {
	if !slices.Contains(w.litterers, user) {
		w.litterers = append(w.litterers, user)
	}
}

// mayStray reports whether the client may read a message on the subject that nobody is known to have published.
func (c *client) mayStray(subj string) bool {
	w := c.w
	if w.cfg.tenants == nil || c.garbage {
		return w.garbage || c.garbage
	}
	for _, r := range w.cfg.tenants.versions {
		_, here := r.User(c.user)
		if here == "" {
			continue
		}
		for _, from := range r.Origins(here, subj) {
			if slices.ContainsFunc(w.litterers, func(name string) bool {
				u, account := r.User(name)
				return account == from.Account && u.MayPublish(from.Subject)
			}) {
				return true
			}
		}
	}
	return false
}
