package engine

import (
	"crypto/subtle"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/natsd/natsd/wire"
)

func (e *Engine) authRequired() bool {
	return e.opts.User != "" || e.opts.Pass != "" || e.opts.Token != ""
}

// authenticate checks the credentials of a CONNECT. A bcrypt hash takes too long for a turn: a job does it while the
// connection's input waits. answer says that a +OK is due: not for a check that the client did not ask for.
func (e *Engine) authenticate(c *conn, answer bool) {
	o := &c.connect
	want, got := e.opts.Pass, o.Pass
	known := true
	if e.opts.Token != "" {
		want, got = e.opts.Token, o.Token
	} else {
		known = subtle.ConstantTimeCompare([]byte(o.User), []byte(e.opts.User)) == 1
	}
	if !isBcrypt(want) {
		same := subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
		e.decide(c, same && known, answer)
		return
	}
	e.mark(MarkAuthJob)
	c.gate |= gateAuth
	// An unknown name takes as long as a wrong password, so that the time does not tell which names exist.
	c.check = &passwordCheck{conn: c, hash: want, password: got, known: known, answer: answer}
	e.checks = append(e.checks, c.check)
	e.startChecks()
}

// checksMax is how many passwords are checked at a time. The others wait in the engine: a client that goes away or that
// waits longer than the authentication timeout costs nothing then, however many of them there are.
const checksMax = 64

// startChecks has as many passwords checked as may be, in the order in which they came.
func (e *Engine) startChecks() {
	for len(e.checks) > 0 && len(e.jobs) < checksMax {
		p := e.checks[0]
		e.checks[0] = nil
		e.checks = e.checks[1:]
		if p.over() {
			e.checksOver--
			continue
		}
		p.conn.checking = e.submit(&job{conn: p.conn.id, check: p}, p.run)
	}
	if len(e.checks) == 0 {
		e.checks = nil
	}
}

// endCheck gives up the password check of a connection.
func (e *Engine) endCheck(c *conn) {
	if c.check != nil && c.checking == 0 {
		e.checksOver++
	}
	c.check, c.checking = nil, 0
	if 2*e.checksOver > len(e.checks) {
		e.checks = slices.DeleteFunc(e.checks, (*passwordCheck).over)
		e.checksOver = 0
	}
}

// decide ends an authentication.
func (e *Engine) decide(c *conn, ok, answer bool) {
	if !ok {
		e.authViolation(c)
		return
	}
	e.accept(c)
	if answer {
		e.ok(c)
	}
}

func isBcrypt(s string) bool { return strings.HasPrefix(s, "$2") }

// job is work under way outside the engine.
type job struct {
	conn  ConnID
	check *passwordCheck
}

// passwordCheck compares a password with a bcrypt hash.
type passwordCheck struct {
	conn           *conn
	answer         bool // a +OK is due
	hash, password string
	known          bool // the user's name is right
	ok             bool
}

// over reports whether nobody waits for the check any more.
func (p *passwordCheck) over() bool { return p.conn.check != p }

// run is the job. It must not look at conn.
func (p *passwordCheck) run() {
	same := bcrypt.CompareHashAndPassword([]byte(p.hash), []byte(p.password)) == nil
	p.ok = same && p.known
}

func (e *Engine) submit(j *job, run func()) JobID {
	e.jobID++
	e.jobs[e.jobID] = j
	e.env.Jobs.Submit(e.jobID, run)
	return e.jobID
}

// JobDone tells that a job has finished.
func (e *Engine) JobDone(id JobID) {
	j := e.jobs[id]
	if j == nil {
		return
	}
	delete(e.jobs, id)
	e.startChecks()
	c := e.lookup(j.conn)
	if c != nil && c.epoch != e.epoch {
		e.visitFirst(c)
	}
	if c == nil || c.checking != id {
		return // the connection is gone, or the credentials have changed meanwhile
	}
	e.endCheck(c)
	e.decide(c, j.check.ok, j.check.answer)
	e.open(c, gateAuth)
}

func (e *Engine) authViolation(c *conn) {
	e.mark(MarkAuthFailed)
	e.protocolError(c, wire.ErrAuthorization, ReasonAuthFailed)
}
