package engine

import (
	"crypto/subtle"
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
	check := &passwordCheck{hash: want, password: got, known: known}
	c.checking = e.submit(&job{conn: c.id, check: check, answer: answer}, check.run)
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
	conn   ConnID
	check  *passwordCheck
	answer bool
}

// passwordCheck compares a password with a bcrypt hash.
type passwordCheck struct {
	hash, password string
	known          bool // the user's name is right
	ok             bool
}

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
	c := e.lookup(j.conn)
	if c == nil || c.checking != id {
		return // the connection is gone, or the credentials have changed meanwhile
	}
	c.checking = 0
	e.decide(c, j.check.ok, j.answer)
	e.open(c, gateAuth)
}

func (e *Engine) authViolation(c *conn) {
	e.mark(MarkAuthFailed)
	e.protocolError(c, wire.ErrAuthorization, ReasonAuthFailed)
}
