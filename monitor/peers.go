package monitor

import (
	"errors"
	"time"
)

// Questions about other servers, and about what is stored. An engine without these answers as nats-server does when nothing
// of the kind is configured.

// RoutezOptions ask for the routes to other servers of the cluster.
type RoutezOptions struct {
	Subscriptions bool `json:"subscriptions"`
	Details       bool `json:"subscriptions_detail"`
}

func (RoutezOptions) question() {}

func routezQuery(r *reader) (o RoutezOptions) {
	o.Subscriptions, o.Details = r.listing("subs")
	return o
}

// Routez is the answer.
type Routez struct {
	ServerID   string     `json:"server_id"`
	ServerName string     `json:"server_name"`
	Now        time.Time  `json:"now"`
	Num        int        `json:"num_routes"`
	Routes     []struct{} `json:"routes"`
}

// Body implements Answer.
func (a *Routez) Body() (any, error) { return a, nil }

// GatewayzOptions ask for the gateways to other clusters.
type GatewayzOptions struct {
	Name          string `json:"name"`
	Accounts      bool   `json:"accounts"`
	Account       string `json:"account_name"`
	Subscriptions bool   `json:"subscriptions"`
	Details       bool   `json:"subscriptions_detail"`
}

func (GatewayzOptions) question() {}

func gatewayzQuery(r *reader) GatewayzOptions {
	o := GatewayzOptions{Name: r.text("gw_name"), Accounts: r.flag("accs"), Account: r.text("acc_name")}
	o.Subscriptions, o.Details = r.listing("subs")
	return o
}

// Gatewayz is the answer.
type Gatewayz struct {
	ServerID string    `json:"server_id"`
	Now      time.Time `json:"now"`
	Outbound struct{}  `json:"outbound_gateways"`
	Inbound  struct{}  `json:"inbound_gateways"`
}

// Body implements Answer.
func (a *Gatewayz) Body() (any, error) { return a, nil }

// LeafzOptions ask for the leaf nodes.
type LeafzOptions struct {
	Subscriptions bool   `json:"subscriptions"`
	Account       string `json:"account"`
}

func (LeafzOptions) question() {}

func leafzQuery(r *reader) LeafzOptions {
	return LeafzOptions{Subscriptions: r.flag("subs"), Account: r.text("acc")}
}

// Leafz is the answer.
type Leafz struct {
	ServerID string     `json:"server_id"`
	Now      time.Time  `json:"now"`
	Num      int        `json:"leafnodes"`
	Leafs    []struct{} `json:"leafs"`
}

// Body implements Answer.
func (a *Leafz) Body() (any, error) { return a, nil }

// JszOptions ask for what is stored.
type JszOptions struct {
	Account          string `json:"account,omitempty"`
	Accounts         bool   `json:"accounts,omitempty"`
	Streams          bool   `json:"streams,omitempty"`
	Consumer         bool   `json:"consumer,omitempty"`
	DirectConsumer   bool   `json:"direct_consumer,omitempty"`
	Config           bool   `json:"config,omitempty"`
	LeaderOnly       bool   `json:"leader_only,omitempty"`
	Offset           int    `json:"offset,omitempty"`
	Limit            int    `json:"limit,omitempty"`
	RaftGroups       bool   `json:"raft,omitempty"`
	StreamLeaderOnly bool   `json:"stream_leader_only,omitempty"`
}

func (JszOptions) question() {}

func jszQuery(r *reader) JszOptions {
	return JszOptions{
		Account: r.text("acc"), Accounts: r.flag("accounts"), Streams: r.flag("streams"), Consumer: r.flag("consumers"),
		DirectConsumer: r.flag("direct-consumers"), Config: r.flag("config"), LeaderOnly: r.flag("leader-only"),
		Offset: r.number("offset"), Limit: r.number("limit"), RaftGroups: r.flag("raft"), StreamLeaderOnly: r.flag("stream-leader-only"),
	}
}

// Jsz is the answer of a server that stores nothing.
type Jsz struct {
	Options         JszOptions `json:"-"`
	Memory          uint64     `json:"memory"`
	Store           uint64     `json:"storage"`
	ReservedMemory  uint64     `json:"reserved_memory"`
	ReservedStorage uint64     `json:"reserved_storage"`
	Accounts        int        `json:"accounts"`
	HAAssets        int        `json:"ha_assets"`
	API             struct {
		Level  int    `json:"level"`
		Total  uint64 `json:"total"`
		Errors uint64 `json:"errors"`
	} `json:"api"`
	ServerID string    `json:"server_id"`
	Now      time.Time `json:"now"`
	Disabled bool      `json:"disabled,omitempty"`
	Config   struct {
		MaxMemory int64 `json:"max_memory"`
		MaxStore  int64 `json:"max_storage"`
	} `json:"config"`
	Streams   int    `json:"streams"`
	Consumers int    `json:"consumers"`
	Messages  uint64 `json:"messages"`
	Bytes     uint64 `json:"bytes"`
	Total     int    `json:"total"`
}

// Body implements Answer.
func (a *Jsz) Body() (any, error) {
	if a.Options.LeaderOnly {
		return nil, errors.New("filtered response: not leader")
	}
	return a, nil
}

// RaftzOptions ask for groups of servers that agree on something.
type RaftzOptions struct {
	Account string `json:"account"`
	Group   string `json:"group"`
}

func (RaftzOptions) question() {}

func raftzQuery(r *reader) RaftzOptions {
	return RaftzOptions{Account: r.text("acc"), Group: r.text("group")}
}

// Raftz is the answer, by account and group.
type Raftz map[string]map[string]any

// Body implements Answer.
func (a Raftz) Body() (any, error) { return a, nil }

// QueueszOptions ask for the queues between a server's threads.
type QueueszOptions struct {
	All    bool   `json:"all"`    // those too that are empty
	Filter string `json:"filter"` // a part of their names
}

func (QueueszOptions) question() {}

func queueszQuery(r *reader) QueueszOptions {
	return QueueszOptions{All: r.flag("all"), Filter: r.text("queues")}
}

// Queuesz is the answer of a server that has none.
type Queuesz struct{}

// Body implements Answer.
func (a Queuesz) Body() (any, error) { return a, nil }
