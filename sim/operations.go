package sim

import (
	"strconv"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// operation is what a client does in a slot. Numbers stand in logs: new operations go to the end.
type operation uint8

const (
	opNothing operation = iota
	opPublish
	opBurst
	opRequest
	opSubscribe
	opJoin  // subscribe as a member of a queue group
	opServe // subscribe and answer requests
	opUnsubscribe
	opUnsubscribeMax
	opDuplicate // SUB with a sid in use
	opFence
	opLeave     // close, and come back
	opAbort     // reset, and come back
	opHalfClose // end the sending side
	opKill      // the process dies: its kernel closes
	opVanish    // the machine loses power for a while
	opHalfOpen  // the connection becomes a void, and the client believes in it
	opStall     // read nothing for a while
	opSecondConnect
	opOddPublish   // subjects that only the pedantic are told off for
	opOddSubscribe // a subject that nobody may subscribe to
	opGarbage
	opTooBig
	opLongLine
	opHalfMessage // a PUB whose payload does not come
	opBadVerb
	opBadArguments
	opBadPayload
	opNoHeaders // HPUB where no headers were agreed on
	opGather    // subscribe to the crowd's subject
	opShout     // publish there
	opGamble    // throw dice
	opCollect   // subscribe to a lot
	opOverhear  // subscribe to what others are answered
	numOperations
)

// Purposes of decision.SimDetail, within the slot. Numbers stand in logs.
const (
	detailSubject  = 1
	detailClass    = 2
	detailSize     = 3
	detailHeader   = 4
	detailCount    = 5
	detailWhich    = 6
	detailWild     = 7
	detailQueue    = 8
	detailMax      = 9
	detailWait     = 10
	detailVariant  = 11
	detailTemplate = 12
	detailPlace    = 13
	detailByte     = 14
	detailHow      = 15
	detailSpied    = 16
	detailServes   = 17 // where there are accounts: whether a subscription answers requests
	detailService  = 18 // which service it is, or is asked
	detailTimes    = 19 // how often it answers
	detailShared   = 20 // whether it is about what accounts share
	detailStream   = 21 // which stream
	// Of the second of a reload:
	detailRush        = 22 // whether the client is in a hurry
	detailRushSubject = 23
	detailRushService = 24
	detailRushPace    = 25
	detailMoment      = 26 // whether the client does something in its very moment
	detailMomentHow   = 27
	detailMomentAbout = 28
	detailMomentWhich = 29
	detailMomentPace  = 30
	detailMomentLeave = 31 // whether somebody with many subscriptions leaves around it
	detailLeaveAt     = 32 // and when
	detailHead        = 33 // of a connection, by a proxy
)

// slot is one slot of the client: at most one operation.
func (c *client) slot(now schedule.Time, n uint64) {
	if c.state == clientReady {
		c.keepalive(now)
	}
	if !c.hostile {
		return
	}
	k := decision.Key{Kind: decision.SimOperation, Actor: c.actor, N: n}
	op := operation(c.w.source.Pick(k, mixes[c.kind][:]))
	if op == opNothing || c.state != clientReady && op != opVanish || c.fatal || c.halfClosed || c.full() {
		return
	}
	c.do(op, slotKey{c, n})
	if c.state > clientDialling {
		c.flush()
	}
}

// keepalive fences what the client did, and gives up a connection that does not answer.
func (c *client) keepalive(now schedule.Time) {
	if c.outAt < len(c.out) && now-c.sentAt > patiencePong && !c.stalled {
		c.giveUp(c.sentAt, "it takes nothing")
		return
	}
	if at, waiting := c.ledger.oldestPing(); waiting {
		if now-at > patiencePong && !c.stalled {
			c.giveUp(at, "no PONG")
		}
		return
	}
	if c.told != nil && now-c.pingAt >= keepaliveEvery && !c.fatal && !c.halfClosed && !c.mute && c.outAt == len(c.out) {
		c.chat(c.pings)
		c.ping()
		c.flush()
	}
}

const keepaliveEvery = 2 * second

// subsMax is how many subscriptions a client collects: without a bound every message would reach everybody many times.
const subsMax = 16

// servesMost is how many subscriptions somebody collects who answers.
const servesMost = 4

// crowdSubject is what a whole crowd subscribes to.
const crowdSubject = "crowd"

// crowdSubs is how many subscriptions one of a crowd collects: many, unless a message is so large that the run would take for
// ever.
func (c *config) crowdSubs() int {
	if c.sizeMax > 4<<10 {
		return 2
	}
	return subsMax
}

// slotKey draws the details of the operation of a slot.
type slotKey struct {
	c *client
	n uint64
}

func (s slotKey) below(purpose uint32, n uint64) uint64 {
	k := decision.Key{Kind: decision.SimDetail, Actor: s.c.actor, Purpose: purpose, N: s.n}
	return s.c.w.source.Below(k, n)
}

// each is below for the i-th of several.
func (s slotKey) each(purpose uint32, i uint32, n uint64) uint64 { return s.below(purpose|i<<8, n) }

func (c *client) do(op operation, s slotKey) {
	switch op {
	case opPublish:
		c.publish(c.drawMessage(s, 0))
	case opBurst:
		for i := range uint32(2 + s.below(detailCount, 30)) {
			if !c.full() {
				c.publish(c.drawMessage(s, i))
			}
		}
	case opRequest:
		c.request(s)
	case opSubscribe:
		if len(c.subs) < subsMax {
			c.subscribe(c.drawPattern(s), c.drawQueue(s, 4), c.serves(s)).times = c.drawTimes(s)
		}
	case opJoin:
		if len(c.subs) < 8 {
			c.subscribe(c.drawPattern(s), c.drawQueue(s, 0), c.serves(s)).times = c.drawTimes(s)
		}
	case opServe:
		if len(c.subs) < servesMost {
			c.subscribe(c.drawServed(s), c.drawQueue(s, 2), true).times = c.drawTimes(s)
		}
	case opUnsubscribe:
		if sub := c.drawSub(s); sub != nil {
			c.unsubscribe(sub, 0, oddMax[s.below(detailVariant, uint64(len(oddMax)))])
		}
	case opUnsubscribeMax:
		if sub := c.drawSub(s); sub != nil {
			c.unsubscribe(sub, 1+s.below(detailMax, 12), "")
		}
	case opDuplicate:
		// Not where a reload may come first and take the subscription away: then this one would be there.
		t := c.w.cfg.tenants
		if sub := c.drawSub(s); sub != nil && !sub.doubtful && (t == nil || len(t.versions) < 2) {
			c.repeatSID(sub.sid, c.drawPattern(s))
		}
	case opFence:
		c.ping()
	case opGather:
		if len(c.subs) < c.w.cfg.crowdSubs() {
			c.subscribe(crowdSubject, "", false)
		}
	case opShout:
		c.shout(s)
	case opGamble:
		c.gamble()
	case opCollect:
		c.collect(s)
	case opOverhear:
		c.overhear(s)
	case opSecondConnect:
		if s.below(detailVariant, 2) == 1 {
			c.sendEmptyConnect()
		} else {
			c.sendConnect()
		}
	default:
		if !c.depart(op, s) {
			c.misbehave(op, s)
		}
	}
}

// request asks something.
func (c *client) request(s slotKey) {
	if c.w.cfg.unanswered && s.below(detailHow, 24) == 23 {
		c.depart(opLeave, s) // so that its own subscription is not the oldest
		return
	}
	m := c.drawMessage(s, 0)
	m.request = c.traits.requests
	m.size = max(m.size, stampSize)
	m.subject = c.drawAsked(s, m.subject)
	c.publish(m)
}

// shout publishes to the crowd.
func (c *client) shout(s slotKey) {
	m := c.drawMessage(s, 0)
	m.subject = crowdSubject
	if s.below(detailVariant, 2) == 1 {
		m.size = c.w.cfg.sizeMax
	}
	c.publish(m)
	c.ping() // answered before all of the crowd are written to
}

// oddMax are numbers of an UNSUB that count as none.
var oddMax = [...]string{"", "", "", " 0", " 00000000009", " -1", " x"}

// sizes of messages: mostly small, now and then the largest.
var sizeClasses = [...]uint32{60, 25, 12, 3}

// drawMessage draws the i-th message of a slot.
func (c *client) drawMessage(s slotKey, i uint32) message {
	most := uint64(c.w.cfg.sizeMax)
	m := message{subject: c.w.cfg.subjects[s.each(detailSubject, i, uint64(len(c.w.cfg.subjects)))]}
	m.subject = c.drawTold(s, i, m.subject)
	k := decision.Key{Kind: decision.SimDetail, Actor: c.actor, Purpose: detailClass | i<<8, N: s.n}
	switch c.w.source.Pick(k, sizeClasses[:]) {
	case 0:
		m.size = int(s.each(detailSize, i, min(most, 64)+1))
	case 1:
		m.size = int(s.each(detailSize, i, most/16+1))
	case 2:
		m.size = int(s.each(detailSize, i, most+1))
	case 3:
		m.size = int(most)
	}
	if c.headers {
		if h := s.each(detailHeader, i, 8); h > 4 {
			m.header = int(h) * 20
		}
	}
	return m
}

// drawPattern draws what to subscribe to: a subject, in parts made wild.
func (c *client) drawPattern(s slotKey) string {
	subj := c.w.cfg.subjects[s.below(detailSubject, uint64(len(c.w.cfg.subjects)))]
	if p := c.drawHeard(s); p != "" {
		return p
	}
	wild := s.below(detailWild, 11)
	switch {
	case wild < 4:
		return subj
	case wild == 9 && s.below(detailVariant, 2) == 1: // the inboxes of another client, by a pattern closer than its own
		return inboxReply + strconv.FormatUint(s.below(detailSpied, uint64(len(c.w.clients))), 10) + ".*.*"
	case wild == 9:
		return ">"
	case wild == 10:
		return inboxReply + ">" // answers of others
	}
	var b []byte
	start, token := 0, uint64(0)
	for i := 0; i <= len(subj); i++ {
		if i < len(subj) && subj[i] != '.' {
			continue
		}
		if start > 0 {
			b = append(b, '.')
		}
		switch {
		case wild == 8 && i == len(subj):
			b = append(b, '>')
		case (wild-3)>>token&1 == 1 && wild != 8:
			b = append(b, '*')
		default:
			b = append(b, subj[start:i]...)
		}
		start = i + 1
		token++
	}
	return string(b)
}

var queueNames = [...]string{"", "", "", "", "q1", "q2", "crew"}

// drawQueue draws a queue name from those behind skip of the four empty ones.
func (c *client) drawQueue(s slotKey, plain uint64) string {
	names := queueNames[4-plain:]
	return names[s.below(detailQueue, uint64(len(names)))]
}

// drawSub draws one of the client's subscriptions that no UNSUB was sent for.
func (c *client) drawSub(s slotKey) *subscription {
	alive := 0
	for _, x := range c.subs {
		if !x.ending && !x.standing {
			alive++
		}
	}
	if alive == 0 {
		return nil
	}
	at := int(s.below(detailWhich, uint64(alive)))
	for _, x := range c.subs {
		if !x.ending && !x.standing {
			if at == 0 {
				return x
			}
			at--
		}
	}
	return nil
}
