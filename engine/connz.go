package engine

import (
	"strings"
	"time"
)

// ConnzOptions say which connections are wanted.
type ConnzOptions struct {
	Open, Closed bool
	CID          uint64 // 0: any
	Subs         bool   // list the subscriptions too
	// Of names the open connections that are wanted, where not nil; Open then means nothing.
	Of []ConnID
}

// Connz is the answer: all connections that match, in order of their slots, then closed ones, oldest first. Sorting and
// paging are the asker's. It is made over several turns, and is not the state of any one moment: a connection that is open
// all the while is in it once, as it was in some turn; one that comes meanwhile may be missing, and one that goes may be
// missing too, or be in it twice where both are asked for, open and then closed.
type Connz struct {
	ServerID string
	Now      WallTime
	Conns    Pages[ConnzInfo]
}

// ConnzInfo is one connection.
type ConnzInfo struct {
	ID                                  ConnID
	CID                                 uint64
	IP                                  string
	Port                                int
	Start, LastActivity                 WallTime
	Stop                                WallTime // 0: open
	Reason                              CloseReason
	Uptime, Idle, RTT                   time.Duration
	Pending                             int
	InMsgs, OutMsgs, InBytes, OutBytes  uint64
	NumSubs                             int
	Name, Lang, Version, AuthorizedUser string
	Account                             string

	// Subs are there with ConnzOptions.Subs. One that lasts while they are listed is there, but twice where others ended
	// meanwhile; sids tell.
	Subs Pages[SubInfo]
	TLS  *TLSInfo // nil: plaintext. It is shared: not to be changed
}

// SubInfo is one subscription.
type SubInfo struct {
	Account string
	Subject string
	Queue   string
	SID     string
	Msgs    uint64
	Max     uint64
	CID     uint64
}

const (
	// closedMax is how many closed connections are remembered for /connz?state=closed, as in nats-server.
	closedMax = 10000
	// closedTextMax bounds the bytes of each text that a client chose, of a closed connection.
	closedTextMax = 256
)

// closedRing holds the connections closed last.
type closedRing struct {
	ring  []ConnzInfo
	count uint64 // of all that there were
}

func (r *closedRing) add(i ConnzInfo) {
	for _, s := range []*string{&i.Name, &i.Lang, &i.Version, &i.AuthorizedUser} {
		if len(*s) > closedTextMax {
			*s = strings.Clone((*s)[:closedTextMax])
		}
	}
	if len(r.ring) < closedMax {
		r.ring = append(r.ring, i)
		r.count++
		return
	}
	r.ring[r.count%closedMax] = i
	r.count++
}

// nth is the nth of all that there were, from 0 on; it must be one of those remembered.
func (r *closedRing) nth(n uint64) *ConnzInfo { return &r.ring[n%closedMax] }

// QueryConnz asks for connections.
func (e *Engine) QueryConnz(id QueryID, o ConnzOptions) { e.ask(id, &connzQuery{o: o}) }

type connzQuery struct {
	o       ConnzOptions
	a       Connz
	slot    int        // the next to look at, of all or of o.Of
	at      *ConnzInfo // the one whose subscriptions are being listed
	subs    int        // how many of these are left
	closed  uint64     // the next, as closedRing counts
	started bool       // with the closed ones
}

func (q *connzQuery) answer() any { return &q.a }

func (q *connzQuery) step(e *Engine, budget int) bool {
	q.a.ServerID, q.a.Now = e.info.ServerID, e.wall
	n := 0
	if q.o.Of != nil {
		n = len(q.o.Of)
	} else if q.o.Open {
		n = len(e.conns)
	}
	for ; q.slot < n; q.slot++ {
		if budget <= 0 {
			return false
		}
		var c *conn
		if q.o.Of != nil {
			c = e.lookup(q.o.Of[q.slot])
		} else {
			c = e.conns[q.slot]
		}
		if c == nil || c.gate&gateClosed != 0 || q.o.CID != 0 && c.cid != q.o.CID {
			budget--
			q.at = nil
			continue
		}
		if q.at == nil || q.at.CID != c.cid {
			budget--
			q.at, q.subs = q.a.Conns.add(e.connInfo(c)), len(c.subs)
		}
		if q.o.Subs && !q.listSubs(c, &budget) {
			return false
		}
	}
	return !q.o.Closed || q.listClosed(e, &budget)
}

// listClosed lists the closed connections within the budget.
func (q *connzQuery) listClosed(e *Engine, budget *int) (done bool) {
	r := &e.closed
	if first := r.count - uint64(len(r.ring)); !q.started || q.closed < first {
		q.started, q.closed = true, first // those before have made room for others
	}
	for ; q.closed < r.count; q.closed++ {
		if *budget <= 0 {
			return false
		}
		*budget--
		if i := r.nth(q.closed); q.o.CID == 0 || i.CID == q.o.CID {
			q.a.Conns.add(*i)
		}
	}
	return true
}

// listSubs lists the subscriptions of c within the budget, the last first: where one ends, the last takes its place, so
// none is passed over.
func (q *connzQuery) listSubs(c *conn, budget *int) (done bool) {
	for q.subs = min(q.subs, len(c.subs)); q.subs > 0; {
		if *budget <= 0 {
			return false
		}
		*budget--
		q.subs--
		q.at.Subs.add(c.subs[q.subs].info())
	}
	return true
}

func (e *Engine) connInfo(c *conn) ConnzInfo {
	o := &c.connect
	return ConnzInfo{
		ID: c.id, CID: c.cid, IP: c.ip, Port: c.port, Start: c.start, LastActivity: c.lastSeen,
		Uptime: time.Duration(e.now - c.startMono), Idle: time.Duration(max(e.wall-c.lastSeen, 0)), RTT: time.Duration(c.rtt),
		Pending: c.out.pending, NumSubs: len(c.subs), Account: c.acc.name,
		InMsgs: c.stats.inMsgs, OutMsgs: c.stats.outMsgs, InBytes: c.stats.inBytes, OutBytes: c.stats.outBytes,
		Name: o.Name, Lang: o.Lang, Version: o.Version, AuthorizedUser: o.User,
		TLS: c.tlsInfo,
	}
}

func (s *subscription) info() SubInfo {
	return SubInfo{
		Account: s.conn.acc.name, Subject: s.handle.Subject(), Queue: s.handle.Queue(), SID: s.sid(),
		Msgs: s.delivered, Max: s.max, CID: s.conn.cid,
	}
}
