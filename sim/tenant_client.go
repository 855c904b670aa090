package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// What a client knows of its user's permissions, and what the server must tell it of them.

// propRefused: whoever may not subscribe to something any more is told so, before anything else.
const propRefused = "revoked"

// hiddenReply begins the reply subjects that the server makes for requests to other accounts.
const hiddenReply = "_R_."

// revoked is a subscription that a reload took away: the client is to be told.
type revoked struct {
	sub     *subscription
	text    string
	certain bool
	pings   uint64 // written before the reload
}

// granted counts the answers that a client may give on a reply subject.
type granted struct {
	request oracle.ID // the last that was read: the connection that asks, and which of its publishes
	n       uint64
	copies  int // of requests that the client may have been sent, whether it has read them or not
	used    int
	since   schedule.Time // when the last request was read
}

// users are those of the run; none: everybody is the same.
func (w *world) users() []string {
	if w.cfg.tenants == nil {
		return nil
	}
	return w.cfg.tenants.users
}

// exists reports whether the client's user may connect now.
func (c *client) exists() bool {
	if c.w.cfg.terms != nil {
		return !c.w.cfg.auth.required() || c.shown == c.node.terms().who
	}
	return c.user == "" || c.node.oracle.Exists(c.user)
}

func (c *client) password() string {
	if t := c.w.cfg.tenants; t != nil {
		if u, _ := t.versions[0].User(c.user); u != nil {
			return u.Password
		}
	}
	return ""
}

func (c *client) maySubscribe(pattern, queue string) bool {
	return c.user == "" || c.node.oracle.MaySubscribe(c.user, pattern, queue)
}

// subViolation is what a client is told that may not subscribe.
func (c *client) subViolation(pattern, queue string) wire.Err {
	if c.user == "" {
		return ""
	}
	text := "Permissions Violation for Subscription to " + strconv.Quote(pattern)
	if queue != "" {
		text += " using queue " + strconv.Quote(queue)
	}
	return wire.Err(text)
}

func (c *client) appendSub(sid uint64, pattern, queue string) {
	b := append(append(c.out, "SUB "...), pattern...)
	if queue != "" {
		b = append(append(b, ' '), queue...)
	}
	b = strconv.AppendUint(append(b, ' '), sid, 10)
	c.out = append(b, "\r\n"...)
}

// writeRefused writes a SUB that the permissions forbid: the server says so even where it is one too many
// as well, or the sid is in use.
func (c *client) writeRefused(sid uint64, pattern, queue string) {
	c.appendSub(sid, pattern, queue)
	c.ledger.add(due{kind: dueErr, err: c.subViolation(pattern, queue), mild: true, more: c.oneTooMany()})
}

// oneTooMany is what a client may be told instead of anything else when a reload comes first: it lets subscriptions in that were
// forbidden when they were written, and then there is no room for those behind.
func (c *client) oneTooMany() []wire.Err {
	if c.w.cfg.engine.MaxSubscriptions == 0 {
		return nil
	}
	return []wire.Err{wire.ErrMaxSubscriptions}
}

// acknowledgedUnless is acknowledged for what another configuration may forbid.
func (c *client) acknowledgedUnless(err wire.Err, more []wire.Err) {
	switch {
	case c.user == "" || len(c.w.cfg.tenants.versions) < 2:
		c.acknowledged()
	case c.traits.verbose:
		c.ledger.add(due{kind: dueOK, err: err, more: more})
	default:
		c.ledger.add(due{kind: dueSilent, err: err, more: more})
	}
}

// grantFor says why the client may publish on subj.
func (c *client) grantFor(subj string) oracle.Grant {
	if c.user == "" {
		return oracle.ByLists
	}
	refused, accepted := c.node.oracle.Refused(c.user, subj)
	limit := c.node.oracle.Responses(c.user)
	g := c.granted[subj]
	if accepted || limit == nil || g == nil || len(refused) != 1 || refused[0] != subj {
		return oracle.ByLists
	}
	g.used++
	expires := schedule.Time(limit.Expires)
	late := c.w.queue.Now()-g.since > expires+expires/8 && c.node.Steady(int64(g.since))
	if late || g.used > limit.Max*g.copies {
		return oracle.NotAnyway
	}
	return oracle.Perhaps // it was delivered before it was read, and a reload that changes how many there may be forgets it
}

// pubViolation is what a client is told that may not publish.
func pubViolation(subj string) wire.Err {
	return wire.Err("Permissions Violation for Publish to " + strconv.Quote(subj))
}

// publishAnswered notes what is answered to a publish.
func (c *client) publishAnswered(subj string, grant oracle.Grant) {
	if c.user == "" {
		c.acknowledged()
		return
	}
	refused, accepted := c.node.oracle.Refused(c.user, subj)
	switch {
	case grant == oracle.Perhaps:
		c.ledger.add(due{kind: dueMaybe, err: pubViolation(subj), more: c.violations(subj)})
	case len(refused) == 0:
		c.acknowledgedUnless(pubViolation(subj), c.violations(subj))
	default:
		d := due{kind: dueErr, err: pubViolation(refused[0]), mild: true, more: c.violations(subj)}
		if accepted {
			d.kind = dueMaybe
		}
		for _, other := range refused[1:] {
			d.errs = append(d.errs, pubViolation(other))
		}
		c.ledger.add(d)
	}
}

// violations are all that the client may be told of a publish on subj, by any configuration.
func (c *client) violations(subj string) []wire.Err {
	t := c.w.cfg.tenants
	if len(t.versions) < 2 {
		return nil
	}
	key := c.user + " " + subj
	all, ok := t.words[key]
	if ok {
		return all
	}
	for _, r := range t.versions {
		if _, account := r.User(c.user); account != "" {
			for _, x := range r.Routes(account, subj) {
				all = append(all, pubViolation(x.Subject))
			}
		}
	}
	if t.words == nil || len(t.words) >= 4096 {
		t.words = make(map[string][]wire.Err)
	}
	t.words[key] = all
	return all
}

// grant notes that a message was read which the client may answer: for each of its subscriptions, and each way by which the message
// comes to its account, there may be another copy.
func (c *client) grant(m *oracle.Message) {
	if c.user == "" || len(m.Reply) == 0 || c.node.oracle.Responses(c.user) == nil {
		return
	}
	if c.granted == nil {
		c.granted = make(map[string]*granted)
	}
	g := c.granted[string(m.Reply)]
	if g == nil {
		g = &granted{}
		c.granted[string(m.Reply)] = g
	}
	if g.request != m.From || g.n != m.N {
		g.request, g.n = m.From, m.N
		g.copies += max(len(c.subs), 1) * c.node.oracle.Ways(m.From, m.N, c.user)
	}
	g.since = c.w.queue.Now()
}

// isRevoked takes an -ERR that tells of a subscription which a reload took away: certainly, or perhaps.
func (c *client) isRevoked(text []byte, certain bool) bool {
	for i, r := range c.revoked {
		if r.text == string(text) && (r.certain || !certain) {
			c.note(saidErr, text, &r)
			c.revoked = append(c.revoked[:i], c.revoked[i+1:]...)
			c.forget(r.sub)
			c.w.noteClient(c, "was told "+string(text))
			return true
		}
	}
	return false
}

// toldRevoked is told that a ping was answered: by then the client must have been told what was taken away before.
func (c *client) toldRevoked(ping uint64) {
	if len(c.revoked) == 0 {
		return
	}
	kept := c.revoked[:0]
	for _, r := range c.revoked {
		if ping <= r.pings {
			kept = append(kept, r)
		} else if r.certain && c.w.failure == nil {
			c.w.fail(propRefused, c.name()+" was not told "+strconv.Quote(r.text)+" after a reload that took it the subscription")
		}
	}
	c.revoked = kept
}

// reconfigured is told that another configuration is in force.
func (c *client) reconfigured() {
	if c.user == "" || c.state < clientOpening || c.garbage {
		return
	}
	exists := c.exists()
	switch {
	case c.expelled || c.fatal && exists:
		c.drop("another configuration")
		return
	case !exists:
		if c.expelled = true; !c.fatal {
			c.sentenced(wire.ErrAuthorization)
		}
	}
	c.ledger.loosen()
	for i := range c.revoked {
		c.revoked[i].certain = false // the server need not have come to it before this
	}
	for i := range c.trail {
		if r := c.trail[i].told; r != nil {
			r.certain, r.pings = false, c.pings
		}
	}
	c.allowForbidden()
	for _, s := range c.subs {
		if !exists || c.maySubscribe(s.pattern, s.queue) {
			continue
		}
		if at := slices.IndexFunc(c.revoked, func(r revoked) bool { return r.sub == s }); at >= 0 {
			c.revoked[at].pings = c.pings // it is taken away once
			continue
		}
		handled := s.pinged < c.answeredPings()
		c.revoked = append(c.revoked, revoked{
			sub: s, text: string(c.subViolation(s.pattern, s.queue)), certain: handled && !s.ending && !s.doubtful, pings: c.pings,
		})
		s.doubtful = true
	}
}

// allowForbidden counts in what was forbidden when it was written and no longer is: the server may come to it only now.
func (c *client) allowForbidden() {
	kept := c.forbidden[:0]
	for _, s := range c.forbidden {
		if !c.exists() || !c.maySubscribe(s.pattern, s.queue) {
			kept = append(kept, s)
			continue
		}
		s.doubtful = true
		at, _ := slices.BinarySearchFunc(c.subs, s.sid, func(x *subscription, sid uint64) int { return cmp.Compare(x.sid, sid) })
		c.subs = slices.Insert(c.subs, at, s)
	}
	clear(c.forbidden[len(kept):])
	c.forbidden = kept
	if m := c.w.cfg.engine.MaxSubscriptions; m == 0 || len(c.subs) <= m {
		return
	}
	for _, s := range c.subs { // now some are too many
		if s.pinged >= c.answeredPings() {
			s.doubtful = true
			c.node.oracle.Doubt(c.told, s.sid)
		}
	}
}

// settleForbidden is told that a ping was answered: what was written before it and forbidden stays refused.
func (c *client) settleForbidden(ping uint64) {
	n := 0
	for n < len(c.forbidden) && c.forbidden[n].pinged < ping {
		n++
	}
	c.forbidden = slices.Delete(c.forbidden, 0, n)
}

// forget takes a subscription off the client's list: it is told that it is over.
func (c *client) forget(s *subscription) {
	for i, x := range c.subs {
		if x == s {
			c.subs = append(c.subs[:i], c.subs[i+1:]...)
			return
		}
	}
}

// answeredPings is how many of the connection's pings were answered.
func (c *client) answeredPings() uint64 { return c.pings - uint64(c.ledger.pongs) }

// reconfigured tells everybody who judges the server that a reload is being carried out.
func (n *node) reconfigured() {
	t := n.w.cfg.tenants
	if n.nextVersion == n.version {
		return
	}
	if t == nil {
		n.retermed()
		return
	}
	if (t.versions[n.version].NoAuth == "") != (t.versions[n.nextVersion].NoAuth == "") {
		n.demandAt = n.w.queue.Now()
	}
	n.version = n.nextVersion
	n.listener.moved = true
	n.w.note(n.index, "configuration "+strconv.Itoa(n.version)+" comes into force")
	n.oracle.Reload(t.versions[n.version])
	n.outstripped()
	for _, c := range n.w.clients {
		if c != nil && c.node == n {
			c.reconfigured()
		}
	}
}

// restore gives the server the first configuration back.
func (n *node) restore() {
	if n.version == 0 {
		return
	}
	if n.eng == nil {
		n.version = 0
		if t := n.w.cfg.tenants; t != nil {
			n.oracle.Reload(t.versions[0])
		}
		return
	}
	n.nextVersion, n.nextOptions = 0, n.w.cfg.options(0)
	n.tell(ready{kind: readyQuery, n: uint64(askReload)})
}

var _ oracle.Clock = (*node)(nil)

// Time implements oracle.Clock.
func (n *node) Time() int64 { return int64(n.w.queue.Now()) }

// Steady implements oracle.Clock.
func (n *node) Steady(since int64) bool { return int64(n.sickUntil) < since && n.paused == 0 }

// informer begins the header by which a service in another account is told who asks.
const informer = "Nats-Request-Info: {"

// uninform takes away the header that tells a service who asks, and returns what it says; nil: there was none.
func (c *client) uninform(in *inbound, asks *client) *oracle.Info {
	at := bytes.Index(in.header, []byte("\r\n"+informer))
	if c.user == "" || at < 0 {
		return nil
	}
	line := in.header[at+2:]
	end := bytes.Index(line, []byte("}\r\n\r\n"))
	if end < 0 || end+5 != len(line) {
		return nil // it is the last one
	}
	info := &oracle.Info{}
	if err := json.Unmarshal(line[len(informer)-1:end+1], info); err != nil || info.Host != "" && !asks.comesFrom(info.Host) {
		c.w.fail(propInformed, c.name()+" was told of "+asks.name()+", who asks: "+quote(line))
	}
	if c.w.cfg.callout != nil && nkeys.IsValidPublicUserKey(info.User) {
		info.User = asks.user // the service has given it a JWT, whose key the server drew
	}
	if at == len("NATS/1.0") {
		in.header = nil
		return info
	}
	c.w.block = append(append(c.w.block[:0], in.header[:at+2]...), "\r\n"...)
	in.header = append([]byte(nil), c.w.block...)
	return info
}

// propInformed: what a service is told of who asks is well-formed, and true.
const propInformed = "informed"

// mayNotAnyway notes what a client is told that subscribes to what is no pattern: where there is an allow list, that it may
// not.
func (c *client) mayNotAnyway(pattern string) bool {
	if c.user == "" || !c.node.oracle.HasAllowed(c.user) {
		return false
	}
	c.ledger.add(due{kind: dueOption, err: wire.ErrMaxSubscriptions})
	c.ledger.add(due{kind: dueOption, err: wire.ErrInvalidSubject})
	c.ledger.add(due{kind: dueOption, err: c.subViolation(pattern, "")})
	return true
}
