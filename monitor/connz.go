package monitor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ConnState is which connections are wanted.
type ConnState int

// The states, in the order of their numbers in JSON.
const (
	Open ConnState = iota
	Closed
	All
)

// ConnzOptions say which connections are wanted, and what of them.
type ConnzOptions struct {
	Sort          string    `json:"sort"`                 // one of orders; empty: cid
	Auth          bool      `json:"auth"`                 // who they are
	Subscriptions bool      `json:"subscriptions"`        // what they subscribed to
	Details       bool      `json:"subscriptions_detail"` // the same, with all about each
	Offset        int       `json:"offset"`
	Limit         int       `json:"limit"`
	CID           uint64    `json:"cid"` // 0: any
	MQTTClient    string    `json:"mqtt_client"`
	State         ConnState `json:"state"`
	User          string    `json:"user"`
	Account       string    `json:"acc"`
	FilterSubject string    `json:"filter_subject"` // only those with a subscription that has subjects in common with it
}

func (ConnzOptions) question() {}

// UnmarshalJSON also takes state in the words of a URL. The error is that of package json, or says which words there are.
func (s *ConnState) UnmarshalJSON(b []byte) error {
	var n int
	if err := json.Unmarshal(b, &n); err == nil {
		*s = ConnState(n)
		return nil
	}
	var word string
	if err := json.Unmarshal(b, &word); err != nil {
		return err
	}
	var err error
	*s, err = connState(word)
	return err
}

func connState(word string) (ConnState, error) {
	switch strings.ToLower(word) {
	case "", "open":
		return Open, nil
	case "closed":
		return Closed, nil
	case "any", "all":
		return All, nil
	}
	return Open, fmt.Errorf("Error decoding state for %s", word)
}

func connzQuery(r *reader) ConnzOptions {
	o := ConnzOptions{
		Sort: r.text("sort"), Auth: r.flag("auth"), User: r.text("user"), Account: r.text("acc"),
		MQTTClient: r.text("mqtt_client"), FilterSubject: r.text("filter_subject"),
	}
	if o.Account == "" {
		o.FilterSubject = "" // passed over: dashboards got all of them by nats-server
	}
	o.Subscriptions, o.Details = r.listing("subs")
	o.Offset, o.Limit, o.CID = r.number("offset"), r.number("limit"), r.id("cid")
	var err error
	if o.State, err = connState(r.text("state")); err != nil && r.err == nil {
		r.err = err
	}
	return o
}

// Lists reports whether the subscriptions are wanted too.
func (o *ConnzOptions) Lists() bool { return o.Subscriptions || o.Details }

// Check says what is wrong with the options, in nats-server's words: a filter without an account, an order that there is not, or not of
// connections in this state.
func (o *ConnzOptions) Check() error {
	if o.FilterSubject != "" && o.Account == "" {
		return errors.New("filter by subject only valid with account filtering")
	}
	_, err := o.order()
	return err
}

// orders are the ways to sort; all but cid, start, uptime and reason put the largest first.
var orders = map[string]func(a, b *Conn) int{
	"cid":        func(a, b *Conn) int { return cmp.Compare(a.CID, b.CID) },
	"start":      func(a, b *Conn) int { return cmp.Compare(a.Start, b.Start) },
	"subs":       func(a, b *Conn) int { return cmp.Compare(b.NumSubs, a.NumSubs) },
	"pending":    func(a, b *Conn) int { return cmp.Compare(b.Pending, a.Pending) },
	"msgs_to":    func(a, b *Conn) int { return cmp.Compare(b.OutMsgs, a.OutMsgs) },
	"msgs_from":  func(a, b *Conn) int { return cmp.Compare(b.InMsgs, a.InMsgs) },
	"bytes_to":   func(a, b *Conn) int { return cmp.Compare(b.OutBytes, a.OutBytes) },
	"bytes_from": func(a, b *Conn) int { return cmp.Compare(b.InBytes, a.InBytes) },
	"last":       func(a, b *Conn) int { return cmp.Compare(b.LastActivity, a.LastActivity) },
	"idle":       func(a, b *Conn) int { return cmp.Compare(b.Idle, a.Idle) },
	"uptime":     func(a, b *Conn) int { return cmp.Compare(a.Uptime, b.Uptime) },
	"rtt":        func(a, b *Conn) int { return cmp.Compare(b.RTT, a.RTT) },
	"stop":       func(a, b *Conn) int { return cmp.Compare(b.Stop, a.Stop) },
	"reason":     func(a, b *Conn) int { return cmp.Compare(a.Reason, b.Reason) },
}

func (o *ConnzOptions) order() (func(a, b *Conn) int, error) {
	name := o.Sort
	if name == "" {
		name = "cid"
	}
	compare := orders[name]
	switch {
	case compare == nil:
		return nil, fmt.Errorf("invalid sorting option: %s", name)
	case o.State != Closed && (name == "stop" || name == "reason"):
		return nil, fmt.Errorf("sort by %s only valid on closed connections", name)
	}
	return compare, nil
}

// Conn is one connection, as an engine knows it. Moments are nanoseconds since the Unix epoch.
type Conn struct {
	ID                                 uint64 // the engine's own name for it
	CID                                uint64
	IP                                 string
	Port                               int
	Start, LastActivity                int64
	Stop                               int64 // 0: open
	Reason                             string
	Uptime, Idle, RTT                  time.Duration // RTT 0: unknown
	Pending                            int
	InMsgs, OutMsgs, InBytes, OutBytes uint64
	Stalls                             uint64 // times that it was held back as a publisher
	NumSubs                            int
	Name, Lang, Version                string
	User, Account                      string // Account empty: it never had one
	JWT, IssuerKey, NameTag            string
	Proxy                              string // the key of the proxy through which it came; empty: directly
	Tags                               []string
	TLS                                *TLS // nil: plaintext. It is shared: not to be changed

	// Subs are there where they are asked for. One that lasts while they are listed is there, but twice where others ended
	// meanwhile; sids tell.
	Subs Pages[Sub]
}

// TLS is what is shown of a connection's TLS.
type TLS struct {
	Version, CipherSuite string
	First                bool
	Peer                 []Cert
}

// Cert is what is shown of a client's certificate.
type Cert struct {
	Subject    string `json:"subject,omitempty"`
	SPKISHA256 string `json:"spki_sha256,omitempty"`
	CertSHA256 string `json:"cert_sha256,omitempty"`
}

// Connz is the answer: connections in the order in which they were found, open ones before closed ones. It is made over
// several turns, and is not the state of any one moment: a connection that is open all the while is in it once, as it was in
// some turn; one that comes meanwhile may be missing, and one that goes may be missing too, or be in it twice where both are
// asked for, open and then closed.
type Connz struct {
	Options  ConnzOptions
	ServerID string
	Now      int64
	Conns    Pages[Conn]
	Total    int  // of the account and state that were asked for, whatever else they had to be
	Unknown  bool // there is no such account
	Err      error

	shown  []*Conn
	picked bool
}

// Pick sorts the connections and returns those on the page that is asked for, the same each time. Others are forgotten.
func (a *Connz) Pick() []*Conn {
	if a.picked {
		return a.shown
	}
	a.picked = true
	compare, err := a.Options.order()
	if err != nil {
		return nil
	}
	conns := a.distinct()
	slices.SortFunc(conns, func(a, b *Conn) int { return cmp.Or(compare(a, b), cmp.Compare(a.CID, b.CID)) })
	a.Total -= a.Conns.Len() - len(conns)
	offset, limit := a.bounds()
	a.shown = slices.Clone(cut(conns, offset, limit))
	a.Conns = Pages[Conn]{}
	return a.shown
}

func (a *Connz) bounds() (offset, limit int) {
	offset, limit = bounds(a.Options.Offset, a.Options.Limit)
	if a.Options.CID != 0 {
		limit = 1
	}
	return offset, limit
}

// distinct are the connections of the answer. One that was closed meanwhile may be in it twice: it is as it was last.
func (a *Connz) distinct() []*Conn {
	all := make([]*Conn, 0, a.Conns.Len())
	open := make(map[uint64]int)
	for i := range a.Conns.All() {
		if at, ok := open[i.CID]; ok {
			all[at] = i
			continue
		}
		open[i.CID] = len(all)
		all = append(all, i)
	}
	return all
}

// connz is the JSON.
type connz struct {
	ServerID string     `json:"server_id"`
	Now      time.Time  `json:"now"`
	Num      int        `json:"num_connections"`
	Total    int        `json:"total"`
	Offset   int        `json:"offset"`
	Limit    int        `json:"limit"`
	Conns    []connInfo `json:"connections"`
}

// Body implements Answer.
func (a *Connz) Body() (any, error) {
	if a.Err != nil {
		return nil, a.Err
	}
	offset, limit := a.bounds()
	shown := a.Pick()
	out := &connz{
		ServerID: a.ServerID, Now: Stamp(a.Now), Num: len(shown), Total: a.Total, Offset: offset, Limit: limit,
		Conns: make([]connInfo, 0, len(shown)),
	}
	if a.Unknown { // as nats-server has it
		out.ServerID, out.Conns = "", nil
	}
	for _, c := range shown {
		out.Conns = append(out.Conns, c.row(&a.Options))
	}
	return out, nil
}
