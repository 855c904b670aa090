package engine

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"slices"

	"golang.org/x/crypto/bcrypt"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/wire"
)

func (e *Engine) authRequired() bool {
	return e.users.required() && (e.users.noAuth == nil || e.users.guests)
}

// authenticate checks the credentials of a CONNECT. A bcrypt hash takes too long for a turn: a job does it while the
// connection's input waits. answer says that a +OK is due: not for a check that the client did not ask for.
func (e *Engine) authenticate(c *conn, answer bool) {
	if e.trust != nil {
		e.loginJWT(c, answer)
		return
	}
	if e.users.mapped {
		e.mapCertificate(c, answer)
		return
	}
	o, d := &c.connect, e.users
	if e.opts.Callout != nil && e.delegated(c, d.claimed(o)) {
		e.callout(c, answer)
		return
	}
	if len(d.byNkey) == 0 && e.opts.Callout == nil {
		o.Nkey = "" // nobody asks for keys: to show one is to show nothing
	}
	var who *user
	name, got := o.User, o.Pass
	switch {
	case d.noAuth != nil && bare(o):
		e.decide(c, d.noAuth, true, answer)
		return
	case o.Nkey != "":
		e.challenge(c, d.byNkey[o.Nkey], answer)
		return
	case d.asksToken(o):
		who, name, got = d.token, "", o.Token
	default:
		who = d.byName[o.User]
	}
	e.prove(c, who, name, got, answer)
}

// prove holds a password, or a token, against that of whom a client claims to be; nil: there is nobody of that name.
func (e *Engine) prove(c *conn, who *user, name, got string, answer bool) {
	want := e.users.decoy
	if who != nil {
		want = who.password
	}
	if !config.IsBcrypt(want) {
		same := subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
		if ok := same && who != nil; ok || !config.IsBcrypt(e.users.decoy) {
			e.decide(c, who, ok, answer)
			return
		}
		who, want = nil, e.users.decoy
	}
	// An unknown name, and a wrong password of who has none that is hashed, take as long as a wrong one of who has, so that
	// the time does not tell which names exist.
	e.check(&passwordCheck{conn: c, who: who, user: name, hash: want, password: got, known: who != nil, answer: answer})
}

// decide ends an authentication.
func (e *Engine) decide(c *conn, who *user, ok, answer bool) {
	if v := e.unfit(c, who); ok && v != nil {
		e.explain(c, v.why)
		if v.reason == ReasonNoProxy {
			e.violates(c, v.reason)
			return
		}
		ok = false
	}
	switch {
	case ok:
		e.admit(c, who, answer)
	case e.opts.Callout != nil && !e.serves(c):
		e.callout(c, answer) // the configuration does not know the client: perhaps the service does
	default:
		e.authViolation(c)
	}
}

// unfit says why the connection can't be who, whatever it proves; nil: it can.
func (e *Engine) unfit(c *conn, who *user) *verdict {
	switch {
	case e.lacksProxy(c, who):
		return direct()
	case who != nil && len(who.types) > 0 && !slices.Contains(who.types, connectionType):
		return refused(typeText)
	}
	return nil
}

// silent is who a client is that has not sent a CONNECT; nil: it must. Where it would not be no_auth_user for certain if it sent one
// that shows nothing, because a service decides, or its certificate, or because that user can't be connected so, it has to.
func (e *Engine) silent(c *conn) *user {
	d := e.users
	if d.noAuth == nil || d.guests || d.mapped || e.delegated(c, d.noAuth) || e.unfit(c, d.noAuth) != nil {
		return nil
	}
	return d.noAuth
}

// admit lets a connection in as somebody; nil: nobody was asked for. One that is in already, and now asks for what there is not, does
// not become somebody else before it is closed for that: it would be told of subscriptions that it may not have as that user.
func (e *Engine) admit(c *conn, who *user, answer bool) {
	if c.connected && !e.suits(c) {
		return
	}
	if e.become(c, who); c.gate&gateClosed != 0 {
		return
	}
	e.accept(c)
	if answer {
		e.ok(c)
	}
}

// digest is what stands for some strings, in this engine only.
func (e *Engine) digest(parts ...string) (d digest) {
	h := sha256.New()
	h.Write(e.checks.seed[:])
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	h.Sum(d[:0])
	return d
}

// network is what counts as one address: of IPv6 the first half, as one host has all that begin with it.
func network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil || !a.Is6() || a.Is4In6() {
		return ip
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return p.String()
}

// comparison is a job: it compares a password with a bcrypt hash, and shares nothing with the engine.
type comparison struct {
	key            digest
	hash, password string
	known          bool // the user's name is right
	ok             bool
}

func newComparison(p *passwordCheck) *comparison {
	return &comparison{key: p.key, hash: p.hash, password: p.password, known: p.known}
}

func (w *comparison) run() {
	same := bcrypt.CompareHashAndPassword([]byte(w.hash), []byte(w.password)) == nil
	w.ok = same && w.known
}

func (w *comparison) done(e *Engine) {
	e.checks.running--
	e.compared(w)
	e.startChecks()
}

// job is work outside the engine: run shares nothing with it, done takes what came of it.
type job interface {
	run()
	done(e *Engine)
}

func (e *Engine) submit(w job) {
	e.jobID++
	e.jobs[e.jobID] = w
	e.env.Jobs.Submit(e.jobID, w.run)
}

// JobDone tells that a job has finished.
func (e *Engine) JobDone(id JobID) {
	w := e.jobs[id]
	if w == nil {
		return
	}
	delete(e.jobs, id)
	w.done(e)
}

// authViolation turns a connection away, or one out whose credentials are no longer right.
func (e *Engine) authViolation(c *conn) { e.violates(c, ReasonAuthFailed) }

// violates is authViolation for a reason.
func (e *Engine) violates(c *conn, reason CloseReason) {
	var a *account
	if e.opts.Callout != nil {
		a = e.calloutAccount()
	}
	why := string(reason)
	if reason == ReasonNoProxy {
		why = "Proxy connection required"
	}
	e.turnAway(c, reason, a, why)
}

// turnAway is authViolation for a reason that tells an account why; nil: none.
func (e *Engine) turnAway(c *conn, reason CloseReason, a *account, why string) {
	e.mark(MarkAuthFailed)
	if c.gate&gateClosed != 0 {
		return
	}
	e.refused(c, reason)
	if a != nil {
		e.refusedIn(a, c, why)
	}
	e.complain(c, "authentication error"+c.shown())
	e.closeConn(c, reason, wire.ErrAuthorization)
}

// shown is what the client showed, for the log.
func (c *conn) shown() string {
	switch o := &c.connect; {
	case o.Nkey != "":
		return " - Nkey " + quoted(o.Nkey)
	case o.User != "":
		return " - User " + quoted(o.User)
	case o.Token != "":
		return " - Token \"[REDACTED]\""
	}
	switch t, u := c.turnedAway, c.user; {
	case t != nil && t.user != nil:
		return " - JWT User " + quoted(t.user.Key)
	case u != nil && u.jwt != nil:
		return " - JWT User " + quoted(u.jwt.Key)
	}
	return ""
}
