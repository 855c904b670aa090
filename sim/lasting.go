package sim

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Not every fault ends. When all is healed, the way between one client and the server stays bad in some runs: it is slow,
// carries one direction only, or is cut again and again. The others must be served as if that client were not there.

// badLink says what stays bad. Numbers stand in logs.
type badLink uint8

const (
	badNone  badLink = iota
	badSlow          // 10 kB/s, and late
	badThere         // nothing gets from the client to the server
	badBack          // nothing gets from the server to the client
	badFlaps         // nothing gets through one fifth of the time
	numBadLinks
)

var badLinkNames = [numBadLinks]string{"good", "slow", "cut towards the server", "cut towards the client", "cut again and again"}

// lasting is the fault that stays.
type lasting struct {
	w      *world
	kind   badLink
	client *client // nil: none
}

// Purposes of decision.SimFault for the world. Numbers stand in logs.
const (
	worldLeftBehind = 1
	worldLasting    = 2
	worldBadLink    = 3
)

// drawLasting chooses the fault that stays. Who stays away has no link.
func (w *world) drawLasting(away int) {
	k := decision.Key{Kind: decision.SimFault, Actor: decision.Of(decision.World, 0), Purpose: worldLasting}
	c := w.client(uint32(w.source.Below(k, uint64(2*len(w.clients)+1))) - 1)
	if c == nil || c.index == away {
		return
	}
	k.Purpose = worldBadLink
	w.lasting = lasting{w: w, client: c, kind: badLink(1 + w.source.Below(k, uint64(numBadLinks)-1))}
	w.struck++
	w.noteClient(c, "its link stays "+badLinkNames[w.lasting.kind])
	c.harmed, c.sickUntil = true, farAway
	server := c.node.host
	switch w.lasting.kind {
	case badSlow:
		slow := netsim.LinkProps{Latency: 200 * millisecond, Bandwidth: 10_000}
		w.net.SetLink(c.host, server, slow)
		w.net.SetLink(server, c.host, slow)
	case badThere:
		w.net.PartitionOneWay(c.host, server)
	case badBack:
		w.net.PartitionOneWay(server, c.host)
	case badFlaps:
		w.queue.After(flapEvery, &w.lasting, flapCut)
	}
}

// What the events of a link that flaps are, and its times.
const (
	flapCut uint64 = iota
	flapHeal
	flapEvery = second
	flapCutOf = second / 5
)

// Fire cuts the link, or lets it go on.
func (l *lasting) Fire(_ schedule.Time, arg uint64) {
	if l.client == nil {
		return
	}
	if arg == flapHeal {
		l.w.net.Heal(l.client.host, l.client.node.host)
		return
	}
	l.w.net.Partition(l.client.host, l.client.node.host)
	l.w.queue.After(flapCutOf, l, flapHeal)
	l.w.queue.After(flapEvery, l, flapCut)
}

// spoilt reports whether it is the client whose link stays bad.
func (w *world) spoilt(c *client) bool { return c == w.lasting.client }

// places is how many of the others the server must let in: connections of the client with the bad link may take some.
func (w *world) places() int {
	most := w.cfg.engine.MaxConnections
	if w.lasting.client != nil {
		most -= lastingPlaces
	}
	if w.cfg.listens {
		most--
	}
	if w.cfg.lenders != nil {
		most -= numLocalLenders
	}
	if w.cfg.archive != nil {
		most -= numArchiveLocals
	}
	if w.cfg.allotted != nil {
		most -= numMembers
	}
	if w.cfg.asking != nil {
		most -= numAskers
	}
	if w.cfg.granting {
		most -= numGranters
	}
	return max(most, 1)
}

// lastingPlaces is how many connections of one client the server may believe in at a time, at most, when it comes and goes.
const lastingPlaces = 3

// liveFor is for how long the others must go on being served.
const liveFor = 20 * second

// live lets time pass in which the fault stays, and looks whether the others are served then: at the end of it, or within the
// time that a server takes which is about to leave in lame duck mode.
func (w *world) live() {
	if w.lasting.client == nil {
		return
	}
	w.until(w.queue.Now() + liveFor)
	if w.within(w.recovery(), func() bool { have, want, _ := w.served(); return have >= min(want, w.places()) }) || w.failure != nil {
		return
	}
	have, want, missed := w.served()
	w.fail(propRecovers, missed.name()+" is not served while the link of "+w.lasting.client.name()+" stays "+
		badLinkNames[w.lasting.kind]+": "+clientStates[missed.state]+"; last PONG at "+time.Duration(missed.pongAt).String()+
		"; served are "+strconv.Itoa(have)+" of "+strconv.Itoa(want))
}

// served counts, of the clients with good links, those that were answered lately and those that want to be. missed is one
// that was not answered; nil: all were.
func (w *world) served() (have, want int, missed *client) {
	for _, c := range w.clients {
		if c == nil || !c.wants || w.spoilt(c) {
			continue
		}
		want++
		if c.state == clientReady && c.pongAt > w.queue.Now()-liveFor/2 {
			have++
		} else {
			missed = c
		}
	}
	return have, want, missed
}

// mend ends the fault: what is left of the client is looked for when it has left.
func (w *world) mend() {
	if c := w.lasting.client; c != nil {
		w.lasting.client = nil
		w.net.Heal(c.host, c.node.host)
		w.net.SetLink(c.host, c.node.host, w.cfg.net.Link)
		w.net.SetLink(c.node.host, c.host, w.cfg.net.Link)
	}
}

// chat publishes a message now and then, to whoever subscribes to it, when all is healed but a link.
func (c *client) chat(ping uint64) {
	if c.w.lasting.client == nil || c.garbage {
		return
	}
	subjects := c.w.cfg.subjects
	c.publish(message{subject: subjects[(uint64(c.index)+ping)%uint64(len(subjects))], size: stampSize + c.w.cfg.sizeMax/4})
}
