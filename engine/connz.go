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
}

// Connz is the answer: all connections that match, in order of their slots, then closed ones, oldest first. Sorting and
// paging are the asker's.
type Connz struct {
	ServerID string
	Now      WallTime
	Conns    []ConnzInfo
}

// ConnzInfo is one connection.
type ConnzInfo struct {
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
	Subs                                []SubInfo // with ConnzOptions.Subs
	Account                             string
	TLS                                 *TLSInfo // nil: plaintext. It is shared: not to be changed
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
	ring []ConnzInfo
	next int
}

func (r *closedRing) add(i ConnzInfo) {
	for _, s := range []*string{&i.Name, &i.Lang, &i.Version, &i.AuthorizedUser} {
		if len(*s) > closedTextMax {
			*s = strings.Clone((*s)[:closedTextMax])
		}
	}
	if len(r.ring) < closedMax {
		r.ring = append(r.ring, i)
		return
	}
	r.ring[r.next] = i
	r.next = (r.next + 1) % closedMax
}

// at is the ith oldest.
func (r *closedRing) at(i int) *ConnzInfo { return &r.ring[(r.next+i)%len(r.ring)] }

// QueryConnz asks for connections.
func (e *Engine) QueryConnz(id QueryID, o ConnzOptions) { e.ask(id, &connzQuery{o: o}) }

type connzQuery struct {
	o      ConnzOptions
	a      Connz
	slot   int    // the next to look at
	cid    uint64 // of the last of a.Conns
	sub    int    // the next of its subscriptions to list
	closed int
}

func (q *connzQuery) answer() any { return &q.a }

func (q *connzQuery) step(e *Engine, budget int) bool {
	q.a.ServerID, q.a.Now = e.info.ServerID, e.wall
	for ; q.o.Open && q.slot < len(e.conns); q.slot++ {
		if budget <= 0 {
			return false
		}
		c := e.conns[q.slot]
		if c == nil || c.gate&gateClosed != 0 || q.o.CID != 0 && c.cid != q.o.CID {
			budget--
			continue
		}
		if c.cid != q.cid {
			budget--
			q.a.Conns = append(q.a.Conns, e.connInfo(c))
			q.cid, q.sub = c.cid, 0
		}
		if q.o.Subs && !q.listSubs(c, &budget) {
			return false
		}
	}
	for ; q.o.Closed && q.closed < len(e.closed.ring); q.closed++ {
		if budget <= 0 {
			return false
		}
		budget--
		if i := e.closed.at(q.closed); q.o.CID == 0 || i.CID == q.o.CID {
			q.a.Conns = append(q.a.Conns, *i)
		}
	}
	return true
}

// listSubs lists the subscriptions of c within the budget. Those that come or go while it is at it in several turns may be
// missing, or listed twice.
func (q *connzQuery) listSubs(c *conn, budget *int) (done bool) {
	i := &q.a.Conns[len(q.a.Conns)-1]
	for ; q.sub < len(c.subs); q.sub++ {
		if *budget <= 0 {
			return false
		}
		*budget--
		i.Subs = append(i.Subs, c.subs[q.sub].info())
	}
	return true
}

func (e *Engine) connInfo(c *conn) ConnzInfo {
	o := &c.connect
	return ConnzInfo{
		CID: c.cid, IP: c.ip, Port: c.port, Start: c.start, LastActivity: c.lastSeen,
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
