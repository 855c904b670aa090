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
	if e.opts.Token != "" {
		want, got = e.opts.Token, o.Token
	} else if subtle.ConstantTimeCompare([]byte(o.User), []byte(e.opts.User)) != 1 {
		// As slow as a wrong password, so that the time does not tell which names exist.
		want, got = e.opts.Pass, ""
		if !isBcrypt(want) {
			e.authViolation(c)
			return
		}
	}
	if !isBcrypt(want) {
		if subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1 {
			e.accept(c)
			if answer {
				e.ok(c)
			}
		} else {
			e.authViolation(c)
		}
		return
	}
	e.mark(MarkAuthJob)
	c.gate |= gateAuth
	check := &passwordCheck{hash: want, password: got}
	e.submit(&job{conn: c.id, check: check, answer: answer}, check.run)
}

func isBcrypt(s string) bool { return strings.HasPrefix(s, "$2") }

// job is work under way outside the engine.
type job struct {
	conn   ConnID
	check  *passwordCheck
	answer bool
}

type passwordCheck struct {
	hash, password string
	ok             bool
}

func (p *passwordCheck) run() {
	p.ok = bcrypt.CompareHashAndPassword([]byte(p.hash), []byte(p.password)) == nil
}

func (e *Engine) submit(j *job, run func()) {
	e.jobID++
	e.jobs[e.jobID] = j
	e.env.Jobs.Submit(e.jobID, run)
}

// JobDone tells that a job has finished.
func (e *Engine) JobDone(id JobID) {
	j := e.jobs[id]
	if j == nil {
		return
	}
	delete(e.jobs, id)
	c := e.lookup(j.conn)
	if c == nil || c.gate&gateClosed != 0 {
		return
	}
	if j.check.ok {
		e.accept(c)
		if j.answer {
			e.ok(c)
		}
	} else {
		e.authViolation(c)
	}
	e.open(c, gateAuth)
}

func (e *Engine) authViolation(c *conn) {
	e.mark(MarkAuthFailed)
	e.protocolError(c, wire.ErrAuthorization, ReasonAuthFailed)
}
