package engine

import (
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
)

// login is a client's way in where its JWT says who it is, or a service does. It goes on over several turns, while the
// connection's input waits:
//
//	the JWT and the signature of the nonce are verified (a job)
//	the account is looked for, if it is not known yet
//	what the JWT says is held against the account's (judge.go)
//	a service is asked, if the account wants that (callout.go)
//
// A login that is no longer conn.login has no effect: the connection is gone, or has sent other credentials.
type login struct {
	conn      ConnID
	answer    bool // a +OK is due
	text      string
	sentinel  string // counts where text is no user's JWT: it may be a service's business; empty: nothing does
	nonce     string
	signature string
	user      *claims.User
	err       error
	signed    bool     // the client has signed the nonce with the key that the JWT is for
	inquiry   *inquiry // at the service; nil: none so far
	lookup    *lookup  // that it waits for; nil: none
	working   bool     // a job of it is under way: what that takes is not the client's fault
	placed    bool     // the service has answered, and user is who it named
}

// beginLogin starts a login of the connection.
func (e *Engine) beginLogin(c *conn, l *login) {
	e.endLogin(c)
	l.conn = c.id
	c.login = l
	c.gate |= gateAuth
	c.authEnd = later(e.now, e.loginSpan())
	e.arm(c)
}

// loginSpan is how long a login may take in all.
func (e *Engine) loginSpan() time.Duration {
	d := e.opts.AuthTimeout
	if t := e.trust; t != nil && d > 0 {
		d += t.resolver.Timeout
	}
	return d
}

// here returns the connection if this is still its login.
func (l *login) here(e *Engine) *conn {
	c := e.lookup(l.conn)
	if c == nil {
		return nil
	}
	if c.epoch != e.epoch {
		e.visitFirst(c)
	}
	if c.login != l {
		return nil
	}
	return c
}

// toil submits a job of a login.
func (e *Engine) toil(l *login, w job) {
	l.working = true
	e.submit(w)
}

// loginJWT lets a connection in, or not, by the JWT of its CONNECT.
func (e *Engine) loginJWT(c *conn, answer bool) {
	o := &c.connect
	text, sentinel := o.JWT, e.trust.sentinel
	if text == "" {
		text = sentinel
	}
	if text == "" {
		e.explain(c, "Authentication requires a user JWT")
		e.decide(c, nil, false, answer)
		return
	}
	e.mark(MarkAuthJob)
	l := &login{answer: answer, text: text, sentinel: sentinel, nonce: c.nonce, signature: o.Sig}
	e.beginLogin(c, l)
	e.toil(l, l)
}

func (l *login) run() {
	if l.user, l.err = claims.DecodeUser(l.text); l.err != nil && l.sentinel != "" {
		l.text = l.sentinel
		l.user, l.err = claims.DecodeUser(l.text)
	}
	if l.err != nil || l.signature == "" {
		return
	}
	key, err := nkeys.FromPublicKey(l.user.Key)
	if err != nil {
		return
	}
	if sig, ok := decodeSignature(l.signature); ok {
		l.signed = l.nonce != "" && key.Verify([]byte(l.nonce), sig) == nil
	}
}

func (l *login) done(e *Engine) {
	l.working = false
	c := l.here(e)
	if c == nil {
		return
	}
	if l.err != nil {
		e.refuseLogin(c, "User JWT not valid: "+l.err.Error())
		return
	}
	if s := e.seekWanting(l.user.Account); s != nil {
		l.wait(s)
		return
	}
	e.proceed(c, l)
}

// wait has the login go on when a lookup has ended.
func (l *login) wait(s *lookup) {
	s.logins = append(s.logins, l)
	l.lookup = s
}

// proceed goes on when the account has been looked for. If accounts that it imports from are still being looked for, it waits
// for these too: a client should find everything in its place.
func (e *Engine) proceed(c *conn, l *login) {
	if l.placed {
		e.placeChartered(c, l, l.user)
		return
	}
	ch := e.trust.charters[l.user.Account]
	if ch == nil {
		e.refuseLogin(c, "Account JWT lookup failed for "+l.user.Account)
		return
	}
	for i := range ch.claims.Rules.Imports {
		if s := e.trust.lookups[ch.claims.Rules.Imports[i].Account]; s != nil {
			l.wait(s)
			return
		}
	}
	who, verdict := e.judge(c, l.user, ch)
	switch {
	case verdict != nil:
		e.refuseAs(c, verdict)
	case !l.signed && !who.powers.Bearer:
		e.refuseLogin(c, "the nonce is not signed with the key of the JWT")
	case ch.claims.Callout != nil && !lets(ch.claims.Callout, l.user.Key):
		e.consult(c, l, ch.account, ch, ch.claims.Callout.XKey, ch.claims.Rules.Name)
	default:
		e.endWith(c, l, who)
	}
}

// endWith ends a login well.
func (e *Engine) endWith(c *conn, l *login, who *user) {
	e.endLogin(c)
	c.authEnd = 0
	e.admit(c, who, l.answer)
	e.openAuth(c)
}

// refuseLogin ends a login badly. why is for the log of whoever debugs; the client learns nothing.
func (e *Engine) refuseLogin(c *conn, why string) { e.refuseAs(c, refused(why)) }

// refuseAs is refuseLogin for a reason that has a name of its own, perhaps. That a JWT has expired or was revoked has none here: the
// client was not in.
func (e *Engine) refuseAs(c *conn, v *verdict) {
	why, reason := v.why, ReasonAuthFailed
	if v.reason == ReasonNoProxy || v.reason == ReasonProxy {
		reason = v.reason
	}
	var a *account
	if q := c.login.inquiry; q != nil {
		a, why = q.account, q.words(why)
		if q.asked != nil && !c.authed {
			c.turnedAway = &turnedAway{by: a, user: q.asked}
		}
	}
	e.endLogin(c)
	e.explain(c, why)
	e.turnAway(c, reason, a, why)
	e.openAuth(c)
}

// explain says in the log why a client was not let in.
func (e *Engine) explain(c *conn, why string) {
	if e.debugs(c) {
		e.complainAt(e.debugLevel(), c, printable([]byte(why)))
	}
}

// loginTimeout ends a login that has taken too long.
func (e *Engine) loginTimeout(c *conn) {
	c.authEnd = 0
	if l := c.login; l.working || l.lookup != nil && l.lookup.read {
		e.arm(c)
		return
	}
	e.refuseLogin(c, "not decided in time")
}

// endLogin gives up the login of a connection, if there is one.
func (e *Engine) endLogin(c *conn) {
	l := c.login
	if l == nil {
		return
	}
	c.login = nil
	if l.inquiry != nil {
		e.endInbox(&l.inquiry.inbox)
	}
}

// openAuth has a connection's input processed again, unless something about its credentials is still under way.
func (e *Engine) openAuth(c *conn) {
	if c.check == nil && c.signature == nil && c.login == nil {
		e.open(c, gateAuth)
	}
}
