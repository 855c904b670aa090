package engine

import "time"

// Varz is the engine's part of /varz. JSON names are nats-server's; those after LongestTurn are natsd's own.
type Varz struct {
	ID               string        `json:"server_id"`
	Name             string        `json:"server_name"`
	Version          string        `json:"version"`
	Natsd            string        `json:"natsd"`
	Proto            int           `json:"proto"`
	GitCommit        string        `json:"git_commit,omitempty"`
	GoVersion        string        `json:"go"`
	Host             string        `json:"host"`
	Port             int           `json:"port"`
	AuthRequired     bool          `json:"auth_required,omitempty"`
	MaxConnections   int           `json:"max_connections"`
	MaxSubscriptions int           `json:"max_subscriptions,omitempty"`
	PingInterval     time.Duration `json:"ping_interval"`
	PingMax          int           `json:"ping_max"`
	AuthTimeoutMs    int64         `json:"-"`
	MaxControlLine   int           `json:"max_control_line"`
	MaxPayload       int           `json:"max_payload"`
	MaxPending       int           `json:"max_pending"`
	WriteDeadline    time.Duration `json:"write_deadline"`
	Start            WallTime      `json:"-"`
	Now              WallTime      `json:"-"`
	Uptime           time.Duration `json:"-"`
	Connections      int           `json:"connections"`
	TotalConnections uint64        `json:"total_connections"`
	Routes           int           `json:"routes"`
	Remotes          int           `json:"remotes"`
	LeafNodes        int           `json:"leafnodes"`
	InMsgs           uint64        `json:"in_msgs"`
	InBytes          uint64        `json:"in_bytes"`
	InClientMsgs     uint64        `json:"in_client_msgs"`
	InClientBytes    uint64        `json:"in_client_bytes"`
	OutMsgs          uint64        `json:"out_msgs"`
	OutBytes         uint64        `json:"out_bytes"`
	OutClientMsgs    uint64        `json:"out_client_msgs"`
	OutClientBytes   uint64        `json:"out_client_bytes"`
	SlowConsumers    uint64        `json:"slow_consumers"`
	StaleConnections uint64        `json:"stale_connections"`
	StalledClients   uint64        `json:"stalled_clients"`
	Subscriptions    int           `json:"subscriptions"`
	LameDuck         bool          `json:"lame_duck_mode,omitempty"`
	LongestTurn      int64         `json:"longest_turn_ns"` // since the start
	Turns            uint64        `json:"turns"`
	TurnTime         int64         `json:"turn_time_ns"` // all turns together
}

// QueryVarz asks for the server's state at a glance.
func (e *Engine) QueryVarz(id QueryID) { e.ask(id, &varzQuery{}) }

type varzQuery struct{ v Varz }

func (q *varzQuery) answer() any { return &q.v }

func (q *varzQuery) step(e *Engine, _ int) bool {
	o, t := &e.opts, &e.totals
	q.v = Varz{
		ID: e.info.ServerID, Name: e.info.ServerName, Version: NatsVersion, Natsd: o.NatsdVersion, Proto: e.info.Proto,
		GitCommit: o.GitCommit, GoVersion: o.GoVersion, Host: e.listening.Host, Port: e.listening.Port,
		AuthRequired: e.authRequired(), MaxConnections: o.MaxConnections, MaxSubscriptions: o.MaxSubscriptions,
		PingInterval: o.PingInterval, PingMax: o.PingMax, AuthTimeoutMs: o.AuthTimeout.Milliseconds(),
		MaxControlLine: o.MaxControlLine, MaxPayload: o.MaxPayload, MaxPending: o.MaxPending, WriteDeadline: o.WriteDeadline,
		Start: e.start, Now: e.wall, Uptime: time.Duration(e.now - e.startMono),
		Connections: e.active, TotalConnections: t.connections,
		InMsgs: t.inMsgs, InBytes: t.inBytes, InClientMsgs: t.inMsgs, InClientBytes: t.inBytes,
		OutMsgs: t.outMsgs, OutBytes: t.outBytes, OutClientMsgs: t.outMsgs, OutClientBytes: t.outBytes,
		SlowConsumers: t.slowConsumers, StaleConnections: t.stale, StalledClients: t.stalls,
		Subscriptions: e.subscriptions(), LameDuck: e.duck.on,
		LongestTurn: e.turns.longest, Turns: e.turns.turns, TurnTime: e.turns.total,
	}
	return true
}
