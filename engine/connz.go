package engine

import (
	"cmp"
	"time"

	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/subject"
)

// connzQuery looks for connections. Where their subscriptions are wanted too, those on the page are listed afterwards: which
// these are, a job finds out.
type connzQuery struct {
	a       *monitor.Connz
	slot    int           // the next to look at; then of the page
	at      *monitor.Conn // the one whose subscriptions are being listed
	cid     uint64        // whose are being looked at
	subs    int           // how many of these are left
	closed  uint64        // the next, as closedRing counts
	started bool          // with the closed ones
	picked  []*monitor.Conn
}

func newConnzQuery(o monitor.ConnzOptions) *connzQuery {
	return &connzQuery{a: &monitor.Connz{Options: o, Err: o.Check()}}
}

func (q *connzQuery) answer() monitor.Answer { return q.a }

// work sorts.
func (q *connzQuery) work() { q.picked = q.a.Pick() }

func (q *connzQuery) step(e *Engine, budget int) progress {
	a, o := q.a, &q.a.Options
	a.ServerID, a.Now = e.info.ServerID, int64(e.wall)
	a.Unknown = o.Account != "" && e.byAccount[o.Account] == nil
	switch {
	case a.Err != nil || a.Unknown:
		return queryDone
	case q.picked != nil:
		return q.listPage(e, &budget)
	}
	if o.State == monitor.Open || o.State == monitor.All {
		if !q.findOpen(e, &budget) {
			return queryGoesOn
		}
	}
	if o.State == monitor.Closed || o.State == monitor.All {
		if !q.findClosed(e, &budget) {
			return queryGoesOn
		}
	}
	if o.Lists() && a.Conns.Len() > 0 {
		q.slot, q.cid = 0, 0
		return queryWaits
	}
	return queryDone
}

// findOpen looks through the connections within the budget.
func (q *connzQuery) findOpen(e *Engine, budget *int) (done bool) {
	o := &q.a.Options
	for ; q.slot < len(e.conns); q.slot++ {
		if *budget <= 0 {
			return false
		}
		c := e.conns[q.slot]
		if c == nil || c.gate&gateClosed != 0 || o.Account != "" && c.acc.name != o.Account {
			*budget--
			continue
		}
		if q.cid != c.cid {
			*budget--
			q.cid, q.subs = c.cid, len(c.subs)
			q.a.Total++
		}
		if o.CID != 0 && c.cid != o.CID || o.User != "" && c.userName() != o.User || o.MQTTClient != "" {
			continue
		}
		if o.FilterSubject != "" {
			found, done := q.subscribes(c, budget)
			if !done {
				return false
			}
			if !found {
				continue
			}
		}
		q.a.Conns.Add(e.connInfo(c))
	}
	return true
}

// subscribes looks within the budget for a subscription that has subjects in common with the filter. The last are looked at
// first: where one ends, the last takes its place, so none is passed over.
func (q *connzQuery) subscribes(c *conn, budget *int) (found, done bool) {
	for q.subs = min(q.subs, len(c.subs)); q.subs > 0; {
		if *budget <= 0 {
			return false, false
		}
		*budget--
		q.subs--
		if overlap(c.subs[q.subs].handle.Subject(), q.a.Options.FilterSubject) {
			return true, true
		}
	}
	return false, true
}

func overlap(pattern, filter string) bool {
	if !subject.ValidPattern(filter) {
		return false
	}
	_, ok := subject.Intersect(pattern, filter)
	return ok
}

// findClosed looks through the closed connections within the budget.
func (q *connzQuery) findClosed(e *Engine, budget *int) (done bool) {
	r := &e.closed
	if first := r.count - uint64(len(r.ring)); !q.started || q.closed < first {
		q.started, q.closed = true, first // those before have made room for others
	}
	for ; q.closed < r.count; q.closed++ {
		if *budget <= 0 {
			return false
		}
		*budget--
		o, i := &q.a.Options, r.nth(q.closed)
		if o.Account != "" && i.Account != o.Account {
			continue
		}
		q.a.Total++
		if o.CID != 0 && i.CID != o.CID || o.User != "" && i.User != o.User || o.MQTTClient != "" {
			continue
		}
		if o.FilterSubject != "" {
			found := false
			for s := range i.Subs.All() {
				*budget--
				found = found || overlap(s.Subject, o.FilterSubject)
			}
			if !found {
				continue
			}
		}
		q.a.Conns.Add(*i)
	}
	return true
}

// listPage lists the subscriptions of those on the page that are still open.
func (q *connzQuery) listPage(e *Engine, budget *int) progress {
	for ; q.slot < len(q.picked); q.slot++ {
		if *budget <= 0 {
			return queryGoesOn
		}
		q.at = q.picked[q.slot]
		c := e.lookup(ConnID(q.at.ID))
		if q.at.Stop != 0 || c == nil || c.gate&gateClosed != 0 {
			*budget--
			continue
		}
		if q.cid != c.cid {
			*budget--
			q.cid, q.subs = c.cid, len(c.subs)
		}
		if !q.listSubs(c, budget) {
			return queryGoesOn
		}
	}
	return queryDone
}

// listSubs lists the subscriptions of c within the budget, the last first as in subscribes.
func (q *connzQuery) listSubs(c *conn, budget *int) (done bool) {
	for q.subs = min(q.subs, len(c.subs)); q.subs > 0; {
		if *budget <= 0 {
			return false
		}
		*budget--
		q.subs--
		q.at.Subs.Add(c.subs[q.subs].info())
	}
	return true
}

func (e *Engine) connInfo(c *conn) monitor.Conn {
	o, idle := &c.connect, time.Duration(e.now-c.lastActive)
	i := monitor.Conn{
		ID: uint64(c.id), CID: c.cid, IP: c.ip, Port: c.port, Start: int64(c.start), LastActivity: int64(e.wall - WallTime(idle)),
		Uptime: time.Duration(e.now - c.startMono), Idle: idle, RTT: time.Duration(c.roundTrip()),
		Pending: c.out.pending, NumSubs: len(c.subs), Stalls: c.stallCount,
		InMsgs: c.stats.inMsgs, OutMsgs: c.stats.outMsgs, InBytes: c.stats.inBytes, OutBytes: c.stats.outBytes,
		Name: o.Name, Lang: o.Lang, Version: o.Version, User: c.userName(), TLS: c.tlsInfo.shown(), Proxy: c.proxy,
	}
	if c.authed && !c.pretends() {
		i.Account, i.NameTag = c.acc.name, c.acc.title()
		p := c.papers()
		i.JWT, i.IssuerKey, i.Tags = p.text, p.issuer, p.tags
	}
	if d := c.turnedAway; d != nil {
		i.Account, i.NameTag, i.IssuerKey = d.by.name, d.by.title(), d.issuer()
	}
	return i
}

// redacted is shown for a token.
const redacted = "[REDACTED]"

// userName is who a connection is, or says it is as long as it isn't anybody.
func (c *conn) userName() string {
	switch {
	case (c.user == nil || c.pretends()) && c.connect.Token != "":
		return redacted
	case c.user == nil || c.pretends():
		return cmp.Or(c.connect.User, c.connect.Nkey, c.turnedAway.name())
	case c.user.name == "" && c.user.password != "":
		return redacted // the token's
	default:
		return c.user.name
	}
}

// pretends reports whether a connection is still the user of those who show nothing although it has shown something: it is being
// looked at, or was turned away.
func (c *conn) pretends() bool {
	return c.user != nil && c.user.unproved && !bare(&c.connect)
}

// shown is what monitoring shows; of nil, nothing.
func (t *TLSInfo) shown() *monitor.TLS {
	if t == nil {
		return nil
	}
	v := &monitor.TLS{Version: t.Version, CipherSuite: t.CipherSuite, First: t.First}
	for i := range t.Peer {
		p := &t.Peer[i]
		v.Peer = append(v.Peer, monitor.Cert{Subject: p.Subject, SPKISHA256: p.SPKISHA256, CertSHA256: p.CertSHA256})
	}
	return v
}

func (s *subscription) info() monitor.Sub {
	return monitor.Sub{
		Account: s.conn.acc.name, Subject: s.handle.Subject(), Queue: s.handle.Queue(), SID: s.sid(),
		Msgs: s.delivered, Max: s.max, CID: s.conn.cid,
	}
}
