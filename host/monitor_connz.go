package host

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
)

// orders are the ways to sort /connz; all but cid put the largest first.
var orders = map[string]func(a, b *engine.ConnzInfo) int{
	"cid":        func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.CID, b.CID) },
	"start":      func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.Start, b.Start) },
	"subs":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.NumSubs, a.NumSubs) },
	"pending":    func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Pending, a.Pending) },
	"msgs_to":    func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.OutMsgs, a.OutMsgs) },
	"msgs_from":  func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.InMsgs, a.InMsgs) },
	"bytes_to":   func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.OutBytes, a.OutBytes) },
	"bytes_from": func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.InBytes, a.InBytes) },
	"last":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.LastActivity, a.LastActivity) },
	"idle":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Idle, a.Idle) },
	"uptime":     func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Uptime, a.Uptime) },
	"rtt":        func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.RTT, a.RTT) },
	"stop":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Stop, a.Stop) },
	"reason":     func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.Reason, b.Reason) },
}

// order returns the order named by the query.
func order(name string, open bool) (func(a, b *engine.ConnzInfo) int, error) {
	if name == "" {
		name = "cid"
	}
	compare := orders[name]
	switch {
	case compare == nil:
		return nil, fmt.Errorf("invalid sorting option: %s", name)
	case open && (name == "stop" || name == "reason"):
		return nil, fmt.Errorf("sort by %s only valid on closed connections", name)
	}
	return compare, nil
}

// globalAccount is where clients are that were not put anywhere else. nats-server does not name it as an account.
const globalAccount = "$G"

type connInfo struct {
	CID          uint64      `json:"cid"`
	Kind         string      `json:"kind"`
	Type         string      `json:"type"`
	IP           string      `json:"ip"`
	Port         int         `json:"port"`
	Start        time.Time   `json:"start"`
	LastActivity time.Time   `json:"last_activity"`
	Stop         *time.Time  `json:"stop,omitempty"`
	Reason       string      `json:"reason,omitempty"`
	RTT          string      `json:"rtt,omitempty"`
	Uptime       string      `json:"uptime"`
	Idle         string      `json:"idle"`
	Pending      int         `json:"pending_bytes"`
	InMsgs       uint64      `json:"in_msgs"`
	OutMsgs      uint64      `json:"out_msgs"`
	InBytes      uint64      `json:"in_bytes"`
	OutBytes     uint64      `json:"out_bytes"`
	NumSubs      int         `json:"subscriptions"`
	Name         string      `json:"name,omitempty"`
	Lang         string      `json:"lang,omitempty"`
	Version      string      `json:"version,omitempty"`
	User         string      `json:"authorized_user,omitempty"`
	Account      string      `json:"account,omitempty"`
	Subs         []string    `json:"subscriptions_list,omitempty"`
	SubsDetail   []subDetail `json:"subscriptions_list_detail,omitempty"`
	NameTag      string      `json:"name_tag,omitempty"` // the account's name, whichever it is
}

func (m *Monitoring) connz(r *http.Request) (any, error) {
	q := r.URL.Query()
	offset, limit, err := page(q)
	if err != nil {
		return nil, err
	}
	o := engine.ConnzOptions{}
	details := strings.EqualFold(q.Get("subs"), "detail")
	o.Subs = details
	if !details {
		if o.Subs, err = flag(q, "subs"); err != nil {
			return nil, err
		}
	}
	auth, err := flag(q, "auth")
	if err != nil {
		return nil, err
	}
	switch state := strings.ToLower(q.Get("state")); state {
	case "", "open":
		o.Open = true
	case "closed":
		o.Closed = true
	case "any", "all":
		o.Open, o.Closed = true, true
	default:
		return nil, fmt.Errorf("error decoding state for %s", state)
	}
	if v := q.Get("cid"); v != "" {
		if o.CID, err = strconv.ParseUint(v, 10, 64); err != nil {
			return nil, decodeError("uint64", "cid", err)
		}
	}
	if o.CID != 0 {
		limit = 1
	}
	compare, err := order(q.Get("sort"), o.Open)
	if err != nil {
		return nil, err
	}
	subs := o.Subs
	o.Subs = false // of those on the page only
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryConnz(id, o) })
	if err != nil {
		return nil, err
	}
	c := a.(*engine.Connz)
	conns := distinct(c)
	slices.SortFunc(conns, func(a, b *engine.ConnzInfo) int { return cmp.Or(compare(a, b), cmp.Compare(a.CID, b.CID)) })
	shown := slice(conns, offset, limit)
	if subs {
		if err := m.addSubs(r, shown); err != nil {
			return nil, err
		}
	}
	out := struct {
		ServerID string     `json:"server_id"`
		Now      time.Time  `json:"now"`
		Num      int        `json:"num_connections"`
		Total    int        `json:"total"`
		Offset   int        `json:"offset"`
		Limit    int        `json:"limit"`
		Conns    []connInfo `json:"connections"`
	}{ServerID: c.ServerID, Now: stamp(c.Now), Total: len(conns), Offset: offset, Limit: limit, Conns: []connInfo{}}
	for _, i := range shown {
		out.Conns = append(out.Conns, connRow(i, details, auth))
	}
	out.Num = len(out.Conns)
	return out, nil
}

// distinct are the connections of an answer. One that was closed while the answer was made may be in it twice, as it was last.
func distinct(c *engine.Connz) []*engine.ConnzInfo {
	all := make([]*engine.ConnzInfo, 0, c.Conns.Len())
	open := make(map[uint64]int)
	for i := range c.Conns.All() {
		if at, ok := open[i.CID]; ok {
			all[at] = i
			continue
		}
		open[i.CID] = len(all)
		all = append(all, i)
	}
	return all
}

// addSubs adds the subscriptions of those connections that are still open.
func (m *Monitoring) addSubs(r *http.Request, conns []*engine.ConnzInfo) error {
	o := engine.ConnzOptions{Subs: true, Of: make([]engine.ConnID, 0, len(conns))}
	to := make(map[uint64]*engine.ConnzInfo)
	for _, i := range conns {
		o.Of = append(o.Of, i.ID)
		to[i.CID] = i
	}
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryConnz(id, o) })
	if err != nil {
		return err
	}
	for i := range a.(*engine.Connz).Conns.All() {
		if c := to[i.CID]; c != nil {
			c.Subs = i.Subs
		}
	}
	return nil
}

func connRow(i *engine.ConnzInfo, details, auth bool) connInfo {
	row := connInfo{
		CID: i.CID, Kind: "Client", Type: "nats", IP: i.IP, Port: i.Port, Start: stamp(i.Start),
		LastActivity: stamp(i.LastActivity), Reason: string(i.Reason), Uptime: uptime(i.Uptime), Idle: uptime(i.Idle),
		Pending: i.Pending, InMsgs: i.InMsgs, OutMsgs: i.OutMsgs, InBytes: i.InBytes, OutBytes: i.OutBytes,
		NumSubs: i.NumSubs, Name: i.Name, Lang: i.Lang, Version: i.Version,
	}
	if auth {
		row.User, row.NameTag = i.AuthorizedUser, i.Account
		if i.Account != globalAccount {
			row.Account = i.Account
		}
	}
	if i.RTT > 0 {
		row.RTT = i.RTT.String()
	}
	if i.Stop != 0 {
		t := stamp(i.Stop)
		row.Stop = &t
	}
	seen := make(map[string]bool, i.Subs.Len())
	for s := range i.Subs.All() {
		if seen[s.SID] {
			continue // listed again because others ended meanwhile
		}
		seen[s.SID] = true
		if details {
			row.SubsDetail = append(row.SubsDetail, detail(s, false))
		} else {
			row.Subs = append(row.Subs, s.Subject)
		}
	}
	return row
}
