package engine

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
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
	// An unknown name takes as long as a wrong password, so that the time does not tell which names exist.
	e.check(&passwordCheck{conn: c, user: o.User, hash: want, password: got, known: known, answer: answer})
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

func (e *Engine) submit(w *comparison) {
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
	e.compared(w)
	e.startChecks()
}

func (e *Engine) authViolation(c *conn) {
	e.mark(MarkAuthFailed)
	e.protocolError(c, wire.ErrAuthorization, ReasonAuthFailed)
}
