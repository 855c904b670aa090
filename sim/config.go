package sim

import (
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/netsim"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// config is what the seed draws for a whole run. The default of each value is what a production server would have.
type config struct {
	engine     engine.Options
	auth       auth
	tenants    *tenants  // nil: one account, in which everybody may do everything
	trustees   *trustees // nil: no user loses the right to be connected
	archive    *archive  // nil: the server keeps no account JWTs
	allotted   *allotted // nil: no account may have only so much
	asking     *asking   // nil: nobody floods the server with requests
	granting   bool      // somebody may only answer, and reloads change how often
	lenders    *lenders  // nil: nothing is exported to those with an activation token
	callout    *callout  // nil: no service decides who clients are
	terms      []terms   // that reloads change between, the first ones first; nil: they change none
	net        netsim.Config
	budget     int   // bytes read from a connection in one turn
	slow       int64 // how many times longer than usual servers take for everything
	entropy    uint64
	clients    int           // most there can be
	period     schedule.Time // of the clients' slots, before their own factor
	rate       int64         // bytes per second that a connection carries at least when nothing is wrong; 0: any
	sizeMax    int           // bytes of a message
	subjects   []string
	kinds      [numKinds]uint32  // weights; of none: the chance that a client is absent
	faults     [numFaults]uint32 // chance per million, target and second
	driftPPM   int64             // of the servers' clocks
	listens    bool              // somebody does, in the system account
	unanswered bool              // few are there for those who ask
}

// Purposes of decision.SimConfig. Numbers stand in logs: they are never used again for something else.
const (
	cfgMaxPending       = 1
	cfgMaxPayload       = 2
	cfgMaxControlLine   = 3
	cfgMatchCache       = 4
	cfgStallBytes       = 5
	cfgStallMax         = 6
	cfgWriteDeadline    = 7
	cfgPingInterval     = 8
	cfgPingMax          = 9
	cfgAuthTimeout      = 10
	cfgMaxConnections   = 11
	cfgMaxSubscriptions = 12
	cfgNoHeaders        = 13
	cfgAuth             = 14
	cfgLameDuck         = 15
	cfgListen           = 16
	cfgLatency          = 20
	cfgJitter           = 21
	cfgBandwidth        = 22
	cfgSendBuffer       = 23
	cfgRecvBuffer       = 24
	cfgCuts             = 25
	cfgCutMax           = 26
	cfgHardClose        = 27
	cfgPorts            = 28
	cfgKeepAlive        = 29
	cfgBudget           = 40
	cfgEntropy          = 41
	cfgClients          = 42
	cfgPeriod           = 43
	cfgSizeMax          = 44
	cfgTokens           = 45
	cfgDepth            = 46
	cfgFaulty           = 47
	cfgDrift            = 48
	cfgTurnWork         = 49
	cfgGathering        = 50
	cfgSlow             = 51
	cfgJWT              = 52
	cfgTenants          = 53
	cfgTenantsRare      = 54
	cfgTenantCount      = 55
	cfgTenantBackwards  = 56
	cfgTenantVersions   = 57
	cfgTenantDice       = 58
	cfgTenantOdds       = 59
	cfgSendLarge        = 60
	cfgCallout          = 61
	cfgCalloutSealed    = 62
	cfgCalloutTrouble   = 63
	cfgCalloutAbsence   = 64
	cfgLapse            = 65
	cfgCalloutFlood     = 66
	cfgUpheaval         = 67
	cfgUpheavalTurns    = 68
	cfgDiamond          = 69
	cfgNoAuth           = 70
	cfgNoAuthUser       = 71 // + version, fewer than noAuthVersions
	cfgTenantGarbage    = 80
	cfgLend             = 81
	cfgAnswerers        = 82
	cfgBetween          = 83
	cfgCalloutListed    = 84
	cfgProxied          = 85
	cfgOverheard        = 90
	cfgOverheardTurns   = 91
	cfgArchive          = 92
	cfgArchiveFailing   = 93
	cfgAllotted         = 94
	cfgArchiveExpiring  = 95
	cfgAsking           = 96
	cfgAskingMost       = 97
	cfgAskingCalls      = 98
	cfgUnanswered       = 99
	cfgUnansweredWork   = 88
	cfgGranting         = 89
	cfgKind             = 100 // + kind
	cfgTerms            = 150
	cfgTermsCount       = 151
	cfgMatchWork        = 149
	cfgTerm             = 152 // + which × termChoices + choice
	cfgFault            = 200 // + fault
	cfgNetFault         = 300 // + which
)

// draw chooses the configuration.
type draw struct{ source *decision.Source }

func (d draw) key(purpose uint32) decision.Key {
	return decision.Key{Kind: decision.SimConfig, Actor: decision.Of(decision.World, 0), Purpose: purpose}
}

// of chooses one of the values; the first is the default and as likely as all others together.
func (d draw) of(purpose uint32, values ...int64) int64 {
	weights := make([]uint32, len(values))
	weights[0] = uint32(max(len(values)-1, 1))
	for i := 1; i < len(values); i++ {
		weights[i] = 1
	}
	return values[d.source.Pick(d.key(purpose), weights)]
}

func (d draw) span(purpose uint32, values ...time.Duration) time.Duration {
	v := make([]int64, len(values))
	for i, x := range values {
		v[i] = int64(x)
	}
	return time.Duration(d.of(purpose, v...))
}

// drawConfig draws a whole configuration. Everything is drawn apart, so that anything may meet anything else; what runs are spread
// over, of a thousand: accounts 340 (of these with reloads that change them 310, with users that may only answer 90, with garbage
// 80), a service that decides who clients are 110, operator mode 220 (with users that lose their rights 110, with accounts that share by
// activation tokens 80, with a directory of account JWTs 55), passwords held against hashes 80, a crowd 280, reloads that change credentials and limits of runs without accounts 100, turns that do little 500, faults 490. Whoever makes one of
// them more frequent makes what excludes it rarer: look at what the planted bugs (sim/mutants) cost then. What needs more runs of
// this mixture than can be had gets a focus (focus.go) instead.
func drawConfig(source *decision.Source) config {
	d := draw{source}
	var c config
	d.network(&c.net)
	d.server(&c)
	d.workload(&c)
	d.trouble(&c)
	d.tenancy(&c)
	d.callout(&c)
	d.lapse(&c)
	d.lend(&c)
	d.keepArchive(&c)
	d.allot(&c)
	d.asks(&c)
	d.grants(&c)
	d.unanswered(&c)
	if c.auth == authHashedUser || c.auth == authHashedToken || c.auth == authJWT {
		c.kinds[kindBadAuth] += 5 // the same is to be tried again while the outcome is known
	}
	c.fit()
	d.agree(&c)
	return c
}

func (d draw) network(n *netsim.Config) {
	n.Link.Latency = schedule.Time(d.span(cfgLatency, 100*time.Microsecond, 10*time.Microsecond, 2*time.Millisecond, 40*time.Millisecond))
	n.Link.Jitter = schedule.Time(d.span(cfgJitter, 0, 20*time.Microsecond, time.Millisecond, 30*time.Millisecond))
	n.Link.Bandwidth = d.of(cfgBandwidth, 0, 10<<20, 1<<20, 100<<10)
	n.SendBuffer = int(d.of(cfgSendBuffer, 64<<10, 256<<10, 4<<10, 1<<10))
	n.SendBuffer = max(n.SendBuffer, int(d.of(cfgSendLarge, 0, 1<<20, 4<<20))) // as a kernel lets it grow
	n.RecvBuffer = int(d.of(cfgRecvBuffer, 64<<10, 256<<10, 4<<10, 600))
	n.CutPerMillion = uint32(d.of(cfgCuts, 0, 20_000, 200_000, 500_000))
	n.CutMax = int(d.of(cfgCutMax, 0, 1, 16, 200))
	n.HardClose = d.of(cfgHardClose, 0, 1) == 1
	n.Ports = int(d.of(cfgPorts, 0, 3))
	n.DialTimeout = 2 * second
	n.KeepAlive = schedule.Time(d.span(cfgKeepAlive, 0, 15*time.Second))
	n.UserTimeout = n.KeepAlive
	n.RetransmitMax = second
}

func (d draw) server(c *config) {
	o := &c.engine
	o.ServerName = "natsd-1"
	o.Port = serverPort
	o.NatsdVersion = "sim"
	o.GoVersion = "go"
	o.Debug = true // says why connections are closed
	o.Check = true
	o.MaxPending = int(d.of(cfgMaxPending, 64<<20, 1<<20, 64<<10, 8<<10))
	o.MaxPayload = int(d.of(cfgMaxPayload, 1<<20, 64<<10, 4<<10, 300))
	o.MaxControlLine = int(d.of(cfgMaxControlLine, 4096, 1024, 200))
	o.MatchCache = int(d.of(cfgMatchCache, 4096, 1, 2, 4, 64))
	o.StallBytes = int(d.of(cfgStallBytes, int64(o.MaxPending)/8, 64, 2048, int64(o.MaxPending)))
	o.StallMax = d.span(cfgStallMax, 100*time.Millisecond, time.Millisecond, time.Second)
	o.WriteDeadline = d.span(cfgWriteDeadline, 10*time.Second, 2*time.Second, 300*time.Millisecond)
	o.PingInterval = d.span(cfgPingInterval, 2*time.Minute, 10*time.Second, time.Second, 250*time.Millisecond)
	o.PingMax = int(d.of(cfgPingMax, 2, 1, 5))
	o.AuthTimeout = d.span(cfgAuthTimeout, 2*time.Second, 500*time.Millisecond)
	o.MaxConnections = int(d.of(cfgMaxConnections, 65536, 20, 5))
	o.MaxSubscriptions = int(d.of(cfgMaxSubscriptions, 0, 10, 2))
	o.NoHeaders = d.of(cfgNoHeaders, 0, 0, 0, 1) == 1
	o.ProxyProtocol = d.proxied()
	o.LameDuckDuration = d.span(cfgLameDuck, 2*time.Minute, 10*time.Second, time.Second)
	o.LameDuckGrace = o.LameDuckDuration / 4
	c.auth = auth(d.of(cfgAuth, 0, 1, 2, 3, 4))
	if d.of(cfgJWT, 0, 0, 1, 1) == 1 {
		c.auth = authJWT
	}
	c.auth.configure(o)
	if d.of(cfgListen, 0, 1) == 1 {
		c.letListen()
	}
	o.TurnWork = int(d.of(cfgTurnWork, 16384, 1, 3, 20, 200))
	o.MatchWork = int(d.of(cfgMatchWork, 0, 0, 1, 3, 10))
	c.slow = d.of(cfgSlow, 1, 30)
	c.entropy = d.source.Below(d.key(cfgEntropy), 1<<16)
	c.budget = int(d.of(cfgBudget, 64<<10, 4096, 512, 64, 7, 1))
}

func (d draw) workload(c *config) {
	c.clients = int(d.of(cfgClients, 10, 3, 6, 20, 40))
	c.period = schedule.Time(d.span(cfgPeriod, 50*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond))
	c.sizeMax = int(d.of(cfgSizeMax, 256, 64, 4<<10, 64<<10, 1<<20))
	tokens := int(d.of(cfgTokens, 3, 1, 2, 6, 12))
	depth := int(d.of(cfgDepth, 2, 1, 3))
	c.subjects = allSubjects(tokens, depth)
	for k := range kindGambler { // who is not in every world
		weights := [...]int64{2, 0, 1, 10}
		c.kinds[k] = uint32(d.of(cfgKind+uint32(k), weights[:]...))
	}
	c.kinds[kindNone] = 3
	c.kinds[kindMixed] += 4
	if d.of(cfgGathering, 0, 0, 1) == 1 {
		c.kinds[kindCrowd] += 20
		c.clients = max(c.clients, 12)
		c.sizeMax = max(c.sizeMax, 4<<10)
	}
}

// fit takes back what would make a healthy client look sick, or a run take for ever.
func (c *config) fit() {
	o := &c.engine
	trip := time.Duration(2*c.net.Link.Latency + 2*c.net.Link.Jitter)
	o.PingInterval = max(o.PingInterval, 20*trip)
	o.WriteDeadline = max(o.WriteDeadline, 20*trip)
	o.AuthTimeout = max(o.AuthTimeout, 10*trip)
	o.StallBytes = min(o.StallBytes, o.MaxPending)
	most := o.MaxPending / 4
	c.rate = c.net.Link.Bandwidth
	if trip := int64(2 * (c.net.Link.Latency + c.net.Link.Jitter)); trip > 0 { // one window per round trip
		window := int64(min(c.net.RecvBuffer, c.net.SendBuffer)) * int64(second) / trip
		if c.rate == 0 || window < c.rate {
			c.rate = window
		}
	}
	if c.rate > 0 {
		most = min(most, int(c.rate/40))
		c.net.SendBuffer = min(c.net.SendBuffer, max(int(c.rate/8), 1024))
		fill := time.Duration(c.net.SendBuffer) * time.Second / time.Duration(c.rate)
		o.WriteDeadline = max(o.WriteDeadline, 4*fill)
		if c.rate <= 100_000 {
			c.period = max(c.period, 200*millisecond)
		}
	}
	if c.budget < 64 {
		most = min(most, 600)
	}
	c.sizeMax = min(c.sizeMax, most, o.MaxPayload)
	if c.sizeMax > 16<<10 {
		c.period = max(c.period, 200*millisecond)
	}
	if c.clients > 20 {
		c.period = max(c.period, 200*millisecond)
	}
}

// allSubjects lists every subject of up to depth tokens.
func allSubjects(tokens, depth int) []string {
	var all []string
	last := []string{""}
	for range depth {
		var longer []string
		for _, s := range last {
			for _, t := range tokenTable[:tokens] {
				if s == "" {
					longer = append(longer, t)
				} else {
					longer = append(longer, s+"."+t)
				}
			}
		}
		all = append(all, longer...)
		last = longer
	}
	return all
}

// tokenTable holds the tokens of subjects: plain ones first, odd but lawful ones behind.
var tokenTable = [...]string{"a", "b", "c", "*x", "ü", "d-long-token-that-needs-more-room", "x>", "**", "e", "$f", "G", "0"}
