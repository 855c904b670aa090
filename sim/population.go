package sim

import (
	"slices"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// clientKind is what a client is there for. Numbers stand in logs: new kinds go to the end.
type clientKind uint8

const (
	kindNone       clientKind = iota // no client
	kindMixed                        // does everything a client may
	kindPublisher                    // publishes one by one
	kindBurst                        // publishes in bursts
	kindSubscriber                   // comes and goes, subscribes and unsubscribes
	kindWorker                       // member of queue groups
	kindRequester                    // asks, and gets an answer or a 503
	kindResponder                    // answers
	kindSlow                         // reads slowly
	kindStaller                      // stops reading for a while
	kindCrasher                      // vanishes without a word
	kindGarbage                      // sends garbage
	kindSilent                       // connects and says nothing
	kindIdle                         // connects, subscribes and waits
	kindStorm                        // reconnects again and again
	kindHostile                      // breaks the limits
	kindBadAuth                      // has the wrong password, often
	kindCrowd                        // subscribes several times to what all its kind do, and publishes there
	kindGambler                      // throws dice: see property_shares.go
	kindCollector                    // has many subscriptions: see collector.go
	kindEar                          // hears the answers that others get: see overheard.go
	numKinds
)

var kindNames = [numKinds]string{
	"nobody", "mixed", "publisher", "burst publisher", "subscriber", "worker", "requester", "responder", "slow reader", "staller",
	"crasher", "garbage sender", "silent", "idle", "storm", "hostile", "bad password", "one of a crowd", "gambler",
	"collector", "ear",
}

// mix is how likely a kind of client does what in a slot.
type mix [numOperations]uint32

var mixes = [numKinds]mix{
	kindMixed: {opNothing: 20, opPublish: 30, opBurst: 2, opRequest: 6, opSubscribe: 8, opUnsubscribe: 5, opUnsubscribeMax: 3,
		opDuplicate: 2, opFence: 5, opLeave: 1, opOddPublish: 2, opOddSubscribe: 1, opSecondConnect: 1},
	kindPublisher:  {opNothing: 10, opPublish: 60, opShout: 2, opFence: 2},
	kindBurst:      {opNothing: 60, opBurst: 10, opFence: 2},
	kindSubscriber: {opNothing: 40, opSubscribe: 10, opUnsubscribe: 7, opUnsubscribeMax: 3, opDuplicate: 1, opFence: 4, opLeave: 2, opHalfClose: 1},
	kindWorker:     {opNothing: 80, opJoin: 6, opUnsubscribe: 1, opUnsubscribeMax: 1, opFence: 2},
	kindRequester:  {opNothing: 30, opRequest: 50, opShout: 1, opFence: 2},
	kindResponder:  {opNothing: 80, opServe: 5, opUnsubscribe: 2, opFence: 2},
	kindSlow:       {opNothing: 80, opSubscribe: 10, opUnsubscribe: 2, opPublish: 5, opHalfClose: 1},
	kindStaller:    {opNothing: 80, opSubscribe: 10, opUnsubscribe: 2, opStall: 2, opPublish: 5},
	kindCrasher:    {opNothing: 40, opSubscribe: 8, opPublish: 20, opVanish: 1, opHalfOpen: 1, opKill: 1},
	kindGarbage:    {opNothing: 40, opGarbage: 10, opLeave: 1},
	kindSilent:     {opNothing: 100, opLeave: 1},
	kindIdle:       {opNothing: 100, opSubscribe: 2},
	kindStorm:      {opNothing: 40, opSubscribe: 3, opPublish: 5, opLeave: 10, opAbort: 5, opHalfClose: 5},
	kindHostile: {opNothing: 60, opPublish: 5, opTooBig: 2, opLongLine: 2, opHalfMessage: 1, opBadVerb: 2, opBadArguments: 2,
		opBadPayload: 2, opNoHeaders: 2},
	kindBadAuth:   {opNothing: 50, opPublish: 10, opFence: 2, opLeave: 3},
	kindGambler:   {opNothing: 10, opGamble: 90},
	kindEar:       {opNothing: 80, opOverhear: 20, opUnsubscribe: 1, opFence: 3, opLeave: 1},
	kindCollector: {opNothing: 60, opCollect: 20, opUnsubscribe: 2, opUnsubscribeMax: 1, opFence: 3, opLeave: 1},
	kindCrowd:     {opNothing: 60, opGather: 20, opShout: 5, opFence: 8, opUnsubscribe: 1, opLeave: 1},
}

// traits are what a client is like for the whole run.
type traits struct {
	period       schedule.Time // of its slots
	pace         int           // bytes per second that it reads; 0: all there is
	verbose      bool
	pedantic     bool
	echo         bool
	headers      bool
	noResponders bool
	requests     bool // has an inbox
	late         bool // sends no CONNECT where none is needed
	mute         bool // answers no ping
	badAuth      bool
	rude         bool          // … or does not even try one
	tardy        schedule.Time // before it answers a request, where there are accounts
	user         int           // of the run's, where there are accounts
	nobody       bool          // says no user
}

// Purposes of decision.SimTrait. Numbers stand in logs.
const (
	traitPhase    = 1
	traitPeriod   = 2
	traitPace     = 3
	traitVerbose  = 4
	traitPedantic = 5
	traitNoEcho   = 6
	traitPlain    = 7
	traitQuiet    = 8
	traitLate     = 9
	traitMute     = 10
	traitRude     = 11
	traitLaggard  = 12
	traitUser     = 13
	traitTardy    = 14
	traitFit      = 15
	traitNobody   = 16
)

var paces = [...]int{1000, 1, 20, 10_000}

func (w *world) drawTraits(c *client) traits {
	rare := func(purpose uint32, perMillion uint32) bool {
		return w.source.Chance(decision.Key{Kind: decision.SimTrait, Actor: c.actor, Purpose: purpose}, perMillion)
	}
	t := traits{
		period:   w.cfg.period << c.trait(traitPeriod, 3),
		verbose:  rare(traitVerbose, 150_000),
		pedantic: rare(traitPedantic, 250_000),
		echo:     !rare(traitNoEcho, 200_000),
		headers:  !rare(traitPlain, 250_000),
		late:     rare(traitLate, 60_000),
	}
	if users := w.users(); len(users) > 0 {
		t.user = c.drawUser(len(users))
		t.tardy = tardiness[c.trait(traitTardy, uint64(len(tardiness)))]
		w.drawNobody(c, &t)
	}
	t.noResponders = t.headers && !rare(traitQuiet, 150_000)
	t.requests = c.kind == kindRequester || c.kind == kindMixed
	switch c.kind {
	case kindGambler:
		t.period, t.echo, t.user = w.cfg.period, true, slices.Index(w.cfg.tenants.users, diceUser)
	case kindSlow:
		t.pace = paces[c.trait(traitPace, uint64(len(paces)))]
	case kindCrowd:
		if rare(traitLaggard, 200_000) {
			t.pace = paces[c.trait(traitPace, uint64(len(paces)))]
		}
	case kindSilent:
		t.mute = true
	case kindIdle:
		t.mute = rare(traitMute, 300_000)
	case kindBadAuth:
		t.badAuth, t.rude = true, rare(traitRude, 500_000) && !w.cfg.mayBeNobody() // it may be let in before it shows anything
	}
	if t.late && (!w.cfg.auth.required() || t.nobody && w.cfg.alwaysNobody()) {
		t.verbose, t.pedantic, t.echo, t.headers, t.noResponders = true, true, true, false, false
	}
	return t
}

// populate makes the clients.
func (w *world) populate() {
	w.clients = make([]*client, w.cfg.clients)
	for i := range w.clients {
		k := decision.Key{Kind: decision.SimClient, Actor: decision.Of(decision.Client, uint64(i))}
		if kind := clientKind(w.source.Pick(k, w.cfg.kinds[:])); kind != kindNone && (kind != kindGambler || w.dice()) {
			w.clients[i] = newClient(w, i, kind)
			w.garbage = w.garbage || kind == kindGarbage
		}
	}
}

// client is the client with that index, nil if there is none.
func (w *world) client(index uint32) *client {
	if int(index) < len(w.clients) {
		return w.clients[index]
	}
	return nil
}

// dialler finds the client that a connection of the network belongs to, and which of its connections it is.
func (w *world) dialler(key uint64) (*client, uint64) {
	const dialBits = 22
	host, dial := key>>1>>dialBits, key>>1&(1<<dialBits-1)
	if host < clientHosts {
		return nil, dial
	}
	return w.client(uint32(host - clientHosts)), dial
}

// dice reports whether there are any: a log of another time may have gamblers where there are not.
func (w *world) dice() bool { return w.cfg.tenants != nil && len(w.cfg.tenants.dice) > 0 }
