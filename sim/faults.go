package sim

import (
	"time"

	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// fault is something that goes wrong with a server, a client's machine or the way between the two. Numbers stand in
// logs: new faults go to the end.
type fault uint8

const (
	faultCrash    fault = iota // the server's process dies and starts again
	faultPower                 // the server's machine loses power and gets it back
	faultPause                 // the server's process stands still
	faultSuspend               // the server's machine stands still
	faultSlow                  // the server runs at 1% of its speed
	faultStop                  // the server is told to stop, and started again
	faultLameDuck              // … in lame duck mode
	faultStep                  // the server's wall clock is set
	faultFreeze                // the server's clocks stand still
	faultFrost                 // the server's wall clock stands still
	faultCut                   // a client and the server do not hear each other
	faultOneWay                // one does not hear the other
	faultLink                  // the way between the two carries 10 kB/s
	faultSleep                 // a client's machine stands still
	numFaults
)

var faultNames = [numFaults]string{
	"process crash", "power failure", "process paused", "machine suspended", "1% speed", "stop", "lame duck", "wall clock set",
	"clocks frozen", "wall clock frozen", "cut off", "cut off in one direction", "10 kB/s", "machine asleep",
}

// Purposes of decision.SimExtent, within a fault. Numbers stand in logs.
const (
	extentLong = 0
	extentHow  = 1
	extentSize = 2
	extentStep = 4 // bits of a purpose below the fault
)

// trouble draws how often what goes wrong.
func (d draw) trouble(c *config) {
	faulty := d.of(cfgFaulty, 0, 1, 1) == 1
	rate := func(purpose uint32, scale int64) uint32 {
		r := d.of(purpose, 0, 0, 1, 4, 20)
		if !faulty {
			r = 0
		}
		return uint32(r * scale)
	}
	for f := range c.faults {
		scale := int64(5000)
		if fault(f) >= faultCut {
			scale = 1500 // there are more clients than servers
		}
		c.faults[f] = rate(cfgFault+uint32(f), scale)
	}
	n := &c.net
	n.StallPerMillion = rate(cfgNetFault+1, 300)
	n.ResetPerMillion = rate(cfgNetFault+2, 200)
	n.HalfOpenPerMillion = rate(cfgNetFault+3, 100)
	n.RefusePerMillion = rate(cfgNetFault+4, 5000)
	n.DialHangPerMillion = rate(cfgNetFault+5, 2000)
	n.StallMin, n.StallMax = 10*millisecond, 10*second
	n.HalfOpenMax = 20 * second
	c.driftPPM = d.of(cfgDrift, 0, 100, -100, 30_000, -30_000)
}

// faults makes things go wrong, second by second.
type faults struct {
	w    *world
	over bool
}

// What the events of faults are.
const (
	faultsSecond uint64 = iota
	faultsEnd           // a fault ends: the fault, the target and, for a process, its life stand above
	faultsOpBits = 1
)

// Fire runs one of its events.
func (f *faults) Fire(now schedule.Time, arg uint64) {
	if f.over {
		return
	}
	if arg&(1<<faultsOpBits-1) == faultsEnd {
		arg >>= faultsOpBits
		f.end(fault(arg&0xff), int(arg>>8&0xffff), arg>>24)
		return
	}
	n := arg >> faultsOpBits
	f.w.queue.After(second, f, faultsSecond|(n+1)<<faultsOpBits)
	for _, nd := range f.w.nodes {
		for k := faultCrash; k < faultCut; k++ {
			f.strike(k, nd.actor, nd.index, n)
		}
	}
	for _, c := range f.w.clients {
		if c == nil {
			continue
		}
		for k := faultCut; k < numFaults; k++ {
			f.strike(k, c.actor, c.index, n)
		}
	}
	for _, nd := range f.w.nodes {
		nd.watch.check(nd)
		nd.checkHeld(now)
		nd.ask(now, n)
		nd.haunt(n)
		nd.checkUndecided()
		nd.checkLapsed(now)
	}
}

// strike makes the fault happen to the target if it is chosen for that second.
func (f *faults) strike(k fault, target decision.Actor, index int, n uint64) {
	w := f.w
	if !w.source.Chance(decision.Key{Kind: decision.SimFault, Actor: target, Purpose: uint32(k), N: n}, w.cfg.faults[k]) {
		return
	}
	x := extent{w.source, decision.Key{Kind: decision.SimExtent, Actor: target, Purpose: uint32(k) << extentStep, N: n}}
	long := millisecond << x.below(extentLong, 15) // up to half a minute
	if k < faultCut {
		f.strikeNode(k, w.nodes[index], long, x)
	} else {
		f.strikeClient(k, w.clients[index], long, x)
	}
}

// extent draws how much of a fault.
type extent struct {
	source *decision.Source
	key    decision.Key
}

func (x extent) below(what uint32, n uint64) uint64 {
	x.key.Purpose |= what
	return x.source.Below(x.key, n)
}

func (f *faults) strikeNode(k fault, n *node, long schedule.Time, x extent) {
	now := f.w.queue.Now()
	if n.eng == nil || n.off {
		return
	}
	f.w.struck++
	f.w.note(n.index, faultNames[k]+" for "+time.Duration(long).String())
	switch k {
	case faultCrash:
		n.kill(now, long/8)
		return
	case faultPower:
		n.powerOff(now)
		f.ends(k, n.index, 0, long)
		return
	case faultStop, faultLameDuck:
		n.stop(k == faultLameDuck)
		return
	case faultPause:
		n.paused++
	case faultSuspend:
		n.paused++
		n.clock.freeze(now)
		n.host.Suspend()
	case faultSlow:
		n.slow = 100 * max(f.w.cfg.slow/10, 1)
	case faultFreeze:
		n.clock.freeze(now)
	case faultFrost:
		n.clock.hold(now, true)
		f.ends(k, n.index, n.life, long)
		return // nothing may depend on the wall clock
	case faultStep:
		step := second << x.below(extentSize, 26) // up to two years
		if x.below(extentHow, 2) == 1 {
			step = -step
		}
		n.clock.step(now, step)
		return
	}
	n.sick(now + long)
	f.ends(k, n.index, n.life, long)
}

// ends schedules the end of a fault.
func (f *faults) ends(k fault, index int, life uint64, long schedule.Time) {
	f.w.queue.After(long, f, faultsEnd|(uint64(k)|uint64(index)<<8|life<<24)<<faultsOpBits)
}

func (f *faults) end(k fault, index int, life uint64) {
	w, now := f.w, f.w.queue.Now()
	if k >= faultCut {
		f.endClient(k, w.clients[index])
		return
	}
	n := w.nodes[index]
	switch k {
	case faultPower:
		n.powerOn(now)
	case faultPause:
		if n.life == life {
			n.paused--
			n.poke()
		}
	case faultSuspend:
		n.host.Resume()
		n.thaw(now, second)
		if n.life == life {
			n.paused--
			n.poke()
		}
	case faultSlow:
		n.slow = w.cfg.slow
	case faultFreeze:
		n.thaw(now, 0)
	case faultFrost:
		n.clock.hold(now, false)
	}
}

func (f *faults) strikeClient(k fault, c *client, long schedule.Time, x extent) {
	w := f.w
	if c.away {
		return
	}
	w.struck++
	w.noteClient(c, faultNames[k]+" for "+time.Duration(long).String())
	c.harmed = true
	server := c.node.host
	switch k {
	case faultCut:
		w.net.Partition(c.host, server)
	case faultOneWay:
		if x.below(extentHow, 2) == 0 {
			w.net.PartitionOneWay(c.host, server)
		} else {
			w.net.PartitionOneWay(server, c.host)
		}
	case faultLink:
		slow := netsim.LinkProps{Latency: 20 * millisecond, Bandwidth: 10_000}
		w.net.SetLink(c.host, server, slow)
		w.net.SetLink(server, c.host, slow)
	case faultSleep:
		c.host.Suspend()
	}
	c.sickUntil = max(c.sickUntil, w.queue.Now()+long)
	f.ends(k, c.index, 0, long)
}

func (f *faults) endClient(k fault, c *client) {
	w, server := f.w, c.node.host
	switch k {
	case faultCut, faultOneWay:
		w.net.Heal(c.host, server)
	case faultLink:
		w.net.SetLink(c.host, server, w.cfg.net.Link)
		w.net.SetLink(server, c.host, w.cfg.net.Link)
	case faultSleep:
		c.host.Resume()
	}
}
