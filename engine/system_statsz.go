package engine

import (
	"encoding/json"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// statsz is the server's state at a glance, as it is told again and again and to those who ask. The fields and their order
// are nats-server's.
type statsz struct {
	Start            time.Time       `json:"start"`
	Mem              int64           `json:"mem"`
	Cores            int             `json:"cores"`
	CPU              json.RawMessage `json:"cpu"`
	Connections      int             `json:"connections"`
	TotalConnections uint64          `json:"total_connections"`
	ActiveAccounts   int             `json:"active_accounts"`
	Subscriptions    int             `json:"subscriptions"`
	Sent             tally           `json:"sent"`
	SentToClients    tally           `json:"sent_to_clients"`
	Received         tally           `json:"received"`
	FromClients      tally           `json:"received_from_clients"`
	SlowConsumers    uint64          `json:"slow_consumers"`
	Slow             *monitor.ByKind `json:"slow_consumer_stats,omitempty"`
	Stale            uint64          `json:"stale_connections,omitempty"`
	StaleStats       *monitor.ByKind `json:"stale_connection_stats,omitempty"`
	Stalled          uint64          `json:"stalled_clients,omitempty"`
	Servers          int             `json:"active_servers"`
	MaxProcs         int             `json:"gomaxprocs"`
}

// statszMost is the time between two events of the server's state; the first come in quicker succession.
const statszMost = Instant(10 * time.Second)

// statszAfter is when, from the start on, the state is told next after now.
func statszAfter(now Instant) Instant {
	at, step := Instant(250*time.Millisecond), Instant(time.Second)
	for at <= now && step < statszMost {
		at += step
		step *= 2
	}
	if at <= now {
		at += (now-at)/statszMost*statszMost + statszMost
	}
	return at
}

// watchStatsz has the state told as long as there may be somebody to listen.
func (e *Engine) watchStatsz() {
	if e.system.conns == 0 && (e.active == 0 || !e.system.shares()) {
		e.timers.remove(&e.sys.statsz)
	} else if e.sys.statsz.pos == 0 {
		e.timers.set(&e.sys.statsz, e.startMono+statszAfter(e.now-e.startMono))
	}
}

// shares reports whether the account exports streams.
func (a *account) shares() bool {
	for _, x := range a.def.exports {
		if x.Kind == config.Stream {
			return true
		}
	}
	return false
}

// statszDue tells the state.
func (e *Engine) statszDue() {
	e.watchStatsz()
	e.say("$SYS.SERVER."+e.info.ServerID+".STATSZ", (*Engine).statszText)
}

type statszMessage struct {
	Server json.RawMessage `json:"server"`
	Statsz *statsz         `json:"statsz"`
}

func (e *Engine) statszText() []byte { return mustJSON(&statszMessage{e.identity(), e.glance()}) }

// glance is the state now.
func (e *Engine) glance() *statsz {
	t, all := &e.totals, e.traffic()
	sent, received := tally{all.outMsgs, all.outBytes}, tally{all.inMsgs, all.inBytes}
	s := &statsz{
		Start: e.start.time(), CPU: json.RawMessage("0"), Connections: e.active, TotalConnections: t.connections,
		Subscriptions: e.subscriptions(), Sent: sent, SentToClients: sent, Received: received, FromClients: received,
		SlowConsumers: t.slowConsumers, Stale: t.stale, Stalled: t.stalls, Servers: 1,
	}
	if t.slowConsumers > 0 {
		s.Slow = &monitor.ByKind{Clients: t.slowConsumers}
	}
	if t.stale > 0 {
		s.StaleStats = &monitor.ByKind{Clients: t.stale}
	}
	for _, a := range e.accounts {
		if a.conns > 0 {
			s.ActiveAccounts++
		}
	}
	if e.env.Process != nil {
		u := e.env.Process.Process().Usage
		s.Mem, s.Cores, s.MaxProcs, s.CPU = u.Mem, u.Cores, u.MaxProcs, mustJSON(u.CPU)
	}
	return s
}
