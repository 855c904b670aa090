package sim

import (
	"cmp"
	"fmt"
	"time"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// Storyteller tells the decisions of one log in words.
type Storyteller struct {
	source *decision.Source
	cfg    config
	kinds  map[decision.Actor]clientKind
}

// NewStoryteller reads from the log what the words depend on: the configuration, and which clients there are.
func NewStoryteller(records []decision.Record) *Storyteller {
	s := &Storyteller{source: decision.FromLog(records), kinds: make(map[decision.Actor]clientKind)}
	s.cfg = drawConfig(s.source)
	for _, r := range records {
		if r.Kind == decision.SimClient {
			s.kinds[r.Actor] = clientKind(r.Value)
		}
	}
	return s
}

// Tell says what a decision of the log is, and the simulated time at which it shows; -1: at none, or it is not known.
func (s *Storyteller) Tell(r decision.Record) (at time.Duration, words string) {
	who := r.Actor.Class().String() + " " + fmt.Sprint(r.Actor.Index())
	if words := cmp.Or(serviceWords(r), archiveWords(r), allottedWords(r), askingWords(r), grantingWords(r)); words != "" {
		return -1, who + ": " + words
	}
	if r.Actor.Class() == decision.Node && (r.Kind == decision.SimOperation || r.Kind == decision.SimDetail) {
		return time.Duration(r.N)*time.Second + time.Second/2, who + ": " + operatorWords(r)
	}
	if r.Actor.Class() == decision.World && r.Kind == decision.SimFault {
		return -1, endWords(r)
	}
	switch r.Kind {
	case decision.SimConfig:
		return -1, "configuration: " + s.configWords(r)
	case decision.SimClient:
		return -1, who + " exists: " + nameOf(kindNames[:], r.Value)
	case decision.SimTrait:
		return -1, who + ": " + s.traitWords(r)
	case decision.SimOperation:
		return s.slotTime(r), fmt.Sprintf("%s, slot %d: %s", who, r.N, nameOf(operationNames[:], r.Value))
	case decision.SimDetail:
		if r.N >= garbageDials {
			return -1, fmt.Sprintf("%s, connection %d:   %s", who, r.N-garbageDials, s.detailWords(r))
		}
		return s.slotTime(r), fmt.Sprintf("%s, slot %d:   %s", who, r.N, s.detailWords(r))
	case decision.SimFault:
		return time.Duration(r.N) * time.Second, who + ": " + nameOf(faultNames[:], uint64(r.Purpose))
	case decision.SimExtent:
		return time.Duration(r.N) * time.Second, who + ":   " + extentWords(r)
	case decision.SimBackoff:
		return -1, fmt.Sprintf("%s waits %d/4096 longer before it dials for the %dth time", who, r.Value, r.N+1)
	case decision.SimJob:
		return -1, fmt.Sprintf("%s: job %d takes %v longer", who, r.N, time.Duration(r.Value))
	}
	if r.Actor.Class() == decision.Link {
		return -1, linkName(r.Actor.Index()) + ": " + netWords(r)
	}
	return -1, ""
}

// operatorWords tells what the operator of a server does.
func operatorWords(r decision.Record) string {
	switch {
	case r.Purpose == lapseRevoke && r.Kind == decision.SimOperation:
		return "the operator revokes a user, or takes that back"
	case r.Kind == decision.SimOperation && r.Purpose == askGiveUp:
		return "it gives up what its engine keeps for reuse"
	case r.Kind == decision.SimOperation && r.Purpose == askReconfigure:
		return "the operator reloads another configuration of accounts"
	case r.Kind == decision.SimDetail && r.Purpose == reloadVersion:
		return fmt.Sprintf("  the reload is to the configuration of accounts %d behind the next", r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == reloadDelay:
		return fmt.Sprintf("  the reload comes %d ms later", r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == reloadTakes:
		return fmt.Sprintf("  reading it takes %d ms", r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == reloadAgain:
		return fmt.Sprintf("  another reload follows: %d", r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == reloadNext:
		return fmt.Sprintf("  that would be to the configuration %d behind it, less as many as there are, or to the same", r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == reloadHasty:
		return "  … the reload waits until connections have followed an earlier one, or (1, 2) does not"
	case r.Kind == decision.SimDetail && r.Purpose == reloadPlace:
		return "  the reload comes " + nameOf(placeNames[:], r.Value) + " else that waits"
	case r.Kind == decision.SimDetail && r.Purpose == lapseAgain:
		return fmt.Sprintf("  the operator changes his mind about the user %v later, if that is within %v", time.Duration(r.Value), time.Duration(lapseAgainMost))
	case r.Kind == decision.SimDetail && r.Purpose == lendKind:
		return "  the reload brings an activation that is " + nameOf(activationNames[:], r.Value)
	case r.Kind == decision.SimDetail && r.Purpose == lendLong:
		return fmt.Sprintf("  … which, if it expires, does so %v later", time.Duration(2+r.Value)*time.Second)
	case r.Kind == decision.SimDetail:
		return "  the reload lengthens a time, the " + fmt.Sprint(r.Purpose) + "th of those that it may"
	}
	return "the operator asks for " + nameOf(questionNames[:], r.Value)
}

var placeNames = [numPlaces]string{"between all", "before all", "behind all"}

// endWords tells what stays wrong when all else is healed.
func endWords(r decision.Record) string {
	switch r.Purpose {
	case worldLeftBehind:
		return fmt.Sprintf("when all is healed client %d stays away, if there is one", r.Value-1)
	case worldLasting:
		return fmt.Sprintf("when all is healed the link of client %d stays bad, if there is one", r.Value-1)
	case worldBadLink:
		return "  the link stays " + nameOf(badLinkNames[:], 1+r.Value)
	}
	return fmt.Sprintf("fault %d: %d of %d", r.Purpose, r.Value, r.Range)
}

// slotTime is when the slot of a client begins.
func (s *Storyteller) slotTime(r decision.Record) time.Duration {
	if s.kinds[r.Actor] == kindNone {
		return -1
	}
	trait := func(purpose uint32, n uint64) uint64 {
		return s.source.Below(decision.Key{Kind: decision.SimTrait, Actor: r.Actor, Purpose: purpose}, n)
	}
	period := s.cfg.period << trait(traitPeriod, 3)
	phase := schedule.Time(trait(traitPhase, uint64(period)))
	return time.Duration(phase + schedule.Time(r.N)*period)
}

func nameOf(names []string, i uint64) string {
	if i < uint64(len(names)) {
		return names[i]
	}
	return fmt.Sprint(i)
}

// linkName names one direction of a connection of the network by its key.
func linkName(key uint64) string {
	const dialBits = 22
	host, dial := key>>1>>dialBits, key>>1&(1<<dialBits-1)
	way := "to the server"
	if key&1 == 1 {
		way = "from the server"
	}
	return fmt.Sprintf("client %d, connection %d, %s", int64(host)-clientHosts, dial, way)
}

func netWords(r decision.Record) string {
	switch r.Kind {
	case decision.NetLatency:
		return fmt.Sprintf("the segment at byte %d takes %v longer", r.N, time.Duration(r.Value))
	case decision.NetSegment:
		if r.Purpose&1 == 0 {
			return fmt.Sprintf("the segment at byte %d is cut", r.N)
		}
		return fmt.Sprintf("the segment at byte %d is cut after %d bytes", r.N, r.Value+1)
	case decision.NetStall:
		return inSecond(r, "stalls")
	case decision.NetReset:
		return inSecond(r, "is reset")
	case decision.NetHalfOpen:
		return inSecond(r, "becomes a void")
	case decision.NetRefuse:
		return "the dial is refused"
	case decision.NetDialHang:
		return "the dial is never answered"
	}
	return fmt.Sprintf("%v: %d of %d", r.Kind, r.Value, r.Range)
}

// inSecond tells a fault of a connection, or how it turns out.
func inSecond(r decision.Record, what string) string {
	if r.Purpose == 0 {
		return fmt.Sprintf("in second %d of its life it %s", r.N, what)
	}
	return fmt.Sprintf("  in second %d of its life it %s: detail %d, %d of %d", r.N, what, r.Purpose, r.Value, r.Range)
}

func extentWords(r decision.Record) string {
	name := nameOf(faultNames[:], uint64(r.Purpose>>extentStep))
	if r.Purpose&(1<<extentStep-1) == extentLong {
		return fmt.Sprintf("%s: for %v", name, time.Duration(millisecond<<r.Value))
	}
	return fmt.Sprintf("%s: detail %d, %d of %d", name, r.Purpose&(1<<extentStep-1), r.Value, r.Range)
}

func (s *Storyteller) detailWords(r decision.Record) string {
	name := nameOf(detailNames[:], uint64(r.Purpose&0xff))
	if i := r.Purpose >> 8; i > 0 {
		name = fmt.Sprintf("%s of message %d", name, i)
	}
	switch r.Purpose & 0xff {
	case detailSubject:
		return fmt.Sprintf("%s %q", name, nameOf(s.cfg.subjects, r.Value))
	case detailQueue:
		return fmt.Sprintf("%s: number %d of %d", name, r.Value, r.Range)
	case detailWait:
		return fmt.Sprintf("%s: %v", name, time.Duration(millisecond<<r.Value))
	}
	return fmt.Sprintf("%s: %d of %d", name, r.Value, r.Range)
}

func (s *Storyteller) traitWords(r decision.Record) string {
	name := nameOf(traitNames[:], uint64(r.Purpose))
	switch r.Purpose {
	case traitPhase:
		return fmt.Sprintf("%s %v", name, time.Duration(r.Value))
	case traitPeriod:
		return fmt.Sprintf("%s %v", name, time.Duration(s.cfg.period<<r.Value))
	case traitPace:
		return fmt.Sprintf("%s %d bytes a second", name, paces[min(r.Value, uint64(len(paces)-1))])
	}
	return name
}

// configWords tells the value that came of the choice, where it is one.
func (s *Storyteller) configWords(r decision.Record) string {
	o, n := &s.cfg.engine, &s.cfg.net
	switch p := r.Purpose; {
	case p >= cfgTenant:
		return fmt.Sprintf("accounts, part %d, choice %d: %d of %d", p/tenantStep, p%tenantStep, r.Value, r.Range)
	case p >= cfgNetFault:
		return fmt.Sprintf("rate of network fault %d: %d of %d", p-cfgNetFault, r.Value, r.Range)
	case p >= cfgFault:
		return fmt.Sprintf("rate of %q: %d of %d", nameOf(faultNames[:], uint64(p-cfgFault)), r.Value, r.Range)
	case p >= cfgNoAuthUser && p < cfgNoAuthUser+noAuthVersions:
		return fmt.Sprintf("no_auth_user of configuration %d: %d of %d", p-cfgNoAuthUser, r.Value, r.Range)
	case p >= cfgTerms:
		return fmt.Sprintf("terms that reloads change between, choice %d: %d of %d", p-cfgTerms, r.Value, r.Range)
	case p >= cfgKind:
		return fmt.Sprintf("share of clients that are %q: %d of %d", nameOf(kindNames[:], uint64(p-cfgKind)), r.Value, r.Range)
	}
	value, ok := map[uint32]any{
		cfgMaxPending: o.MaxPending, cfgMaxPayload: o.MaxPayload, cfgMaxControlLine: o.MaxControlLine, cfgMatchCache: o.MatchCache,
		cfgStallBytes: o.StallBytes, cfgStallMax: o.StallMax, cfgWriteDeadline: o.WriteDeadline, cfgPingInterval: o.PingInterval,
		cfgPingMax: o.PingMax, cfgAuthTimeout: o.AuthTimeout, cfgMaxConnections: o.MaxConnections,
		cfgMaxSubscriptions: o.MaxSubscriptions, cfgNoHeaders: o.NoHeaders, cfgLameDuck: o.LameDuckDuration, cfgTurnWork: o.TurnWork, cfgMatchWork: o.MatchWork,
		cfgLatency: time.Duration(n.Link.Latency), cfgJitter: time.Duration(n.Link.Jitter), cfgBandwidth: n.Link.Bandwidth,
		cfgSendBuffer: n.SendBuffer, cfgRecvBuffer: n.RecvBuffer, cfgCuts: n.CutPerMillion, cfgCutMax: n.CutMax,
		cfgBudget: s.cfg.budget, cfgClients: s.cfg.clients, cfgPeriod: time.Duration(s.cfg.period), cfgSizeMax: s.cfg.sizeMax,
	}[r.Purpose]
	if !ok {
		value = fmt.Sprintf("%d of %d", r.Value, r.Range)
	}
	return fmt.Sprintf("%s = %v", nameOf(configNames[:], uint64(r.Purpose)), value)
}

var configNames = [...]string{
	cfgMaxPending: "max_pending", cfgMaxPayload: "max_payload", cfgMaxControlLine: "max_control_line", cfgMatchCache: "match cache",
	cfgStallBytes: "stall bytes", cfgStallMax: "stall time", cfgWriteDeadline: "write_deadline", cfgPingInterval: "ping_interval",
	cfgPingMax: "ping_max", cfgAuthTimeout: "auth timeout", cfgMaxConnections: "max_connections",
	cfgMaxSubscriptions: "max_subscriptions", cfgNoHeaders: "no headers", cfgAuth: "kind of authentication",
	cfgLameDuck: "lame_duck_duration", cfgLatency: "latency", cfgJitter: "jitter", cfgBandwidth: "bandwidth, bytes a second",
	cfgSendBuffer: "send buffers", cfgRecvBuffer: "receive buffers", cfgCuts: "segments cut, per million", cfgCutMax: "longest cut piece",
	cfgHardClose: "close resets", cfgPorts: "few ports", cfgKeepAlive: "TCP keep-alive", cfgBudget: "bytes read in a turn",
	cfgEntropy: "entropy of the servers", cfgClients: "clients at most", cfgPeriod: "period of slots", cfgSizeMax: "largest message",
	cfgTokens: "tokens of subjects", cfgDepth: "depth of subjects", cfgFaulty: "faults", cfgDrift: "drift of clocks",
	cfgTurnWork: "work in a turn", cfgMatchWork: "work of a match at once", cfgGathering: "a crowd gathers", cfgSlow: "servers are slow", cfgJWT: "operator mode",
	cfgTenants: "accounts, perhaps", cfgTenantsRare: "accounts, rather not", cfgTenantCount: "accounts beyond two",
	cfgTenantBackwards: "services are imported from accounts behind", cfgTenantVersions: "configurations of accounts beyond one",
	cfgListen: "somebody listens in the system account", cfgTenantDice: "the account with dice", cfgTenantOdds: "the odds of dice",
	cfgCallout: "a service decides who clients are", cfgCalloutSealed: "it is asked in secret",
	cfgCalloutTrouble: "it answers wrongly", cfgCalloutAbsence: "it is not there", cfgCalloutFlood: "it asks all the while",
	cfgCalloutListed: "and about users of an account that have none", cfgLapse: "users are revoked, and expire",
	cfgNoAuth: "clients may say no user", cfgTenantGarbage: "garbage is sent where there are accounts",
	cfgUpheaval: "a configuration of accounts that changes very much", cfgUpheavalTurns: "work of a turn where that is long",
	cfgLend: "accounts share by activation tokens", cfgAnswerers: "users that may only answer", cfgProxied: "clients come by proxies",
	cfgAsking: "accounts that ask the server", cfgAskingMost: "requests under way of the greedy one", cfgAskingCalls: "requests to the server that may wait",
	cfgGranting:   "somebody may only answer, as often as reloads say",
	cfgUnanswered: "few answer, and many overhear", cfgUnansweredWork: "work of a match at once then",
	cfgOverheard: "many overhear answers", cfgArchive: "account JWTs are kept in a directory",
}

var traitNames = [...]string{
	traitPhase: "its slots begin at", traitPeriod: "a slot takes", traitPace: "reads", traitVerbose: "verbose", traitPedantic: "pedantic",
	traitNoEcho: "no echo", traitPlain: "no headers", traitQuiet: "no no_responders", traitLate: "no CONNECT", traitMute: "answers no ping",
	traitRude: "does not even try a password", traitLaggard: "reads slowly", traitUser: "is user", traitTardy: "answers late", traitFit: "is a user that fits, rather not", traitNobody: "says no user",
}

var detailNames = [...]string{
	detailSubject: "subject", detailClass: "class of size", detailSize: "size", detailHeader: "headers", detailCount: "how many",
	detailWhich: "which", detailWild: "wildcards", detailQueue: "queue", detailMax: "max", detailWait: "wait", detailVariant: "variant",
	detailTemplate: "template", detailPlace: "place", detailByte: "byte", detailHow: "how",
	detailSpied: "spied on", detailServes: "serves", detailService: "service", detailTimes: "answers", detailShared: "shared", detailStream: "stream",
	detailRush: "hurries", detailRushSubject: "about", detailRushService: "asks", detailRushPace: "how fast",
	detailMoment: "seizes the moment", detailMomentHow: "how", detailMomentAbout: "about what", detailMomentWhich: "about which",
	detailMomentPace: "how fast", detailHead: "header of its proxy",
}

var operationNames = [numOperations]string{
	opNothing: "nothing", opPublish: "publishes", opBurst: "publishes a burst", opRequest: "sends a request", opSubscribe: "subscribes",
	opJoin: "joins a queue group", opServe: "subscribes to answer requests", opUnsubscribe: "unsubscribes",
	opUnsubscribeMax: "unsubscribes after a number", opDuplicate: "subscribes with a sid in use", opFence: "pings",
	opLeave: "leaves", opAbort: "resets its connection", opHalfClose: "ends its sending side", opKill: "dies", opVanish: "loses power",
	opHalfOpen: "loses its connection without a word", opStall: "stops reading", opSecondConnect: "sends another CONNECT",
	opOddPublish: "publishes on an odd subject", opOddSubscribe: "subscribes to an invalid subject", opGarbage: "sends garbage",
	opTooBig: "publishes too much", opLongLine: "sends too long a line", opHalfMessage: "announces a message and does not send it",
	opBadVerb: "sends an unknown verb", opBadArguments: "sends wrong arguments", opBadPayload: "ends a payload wrongly",
	opNoHeaders: "publishes headers that were not agreed on", opGather: "subscribes as one of a crowd", opShout: "publishes to the crowd", opGamble: "throws dice",
	opCollect:  "subscribes to a lot",
	opOverhear: "subscribes to what others are answered",
}
