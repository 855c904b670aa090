package engine

import (
	"encoding/base64"

	"github.com/nats-io/nkeys"
)

// nonceLen is how many bytes a client with a key has to sign.
const nonceLen = 11

// newNonce makes what a client has to sign, as it is told.
func (e *Engine) newNonce() string {
	var b [nonceLen]byte
	for i := range b {
		b[i] = byte(e.secrets.Uint64())
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// signature is a job: it verifies what a client says that it signed with its key.
type signature struct {
	conn             ConnID
	key, nonce, text string
	answer           bool // a +OK is due
	ok               bool
}

// challenge lets a connection in that has signed its nonce. To verify that takes longer than a turn should: its input waits.
// A key that is not known is verified like any other, so that the time does not tell which are.
func (e *Engine) challenge(c *conn, who *user, answer bool) {
	if c.connected && who != nil && c.user != nil && c.user.name == who.name && c.user.nkey && !c.user.unproved {
		e.decide(c, who, true, answer) // it has proved it before
		return
	}
	e.mark(MarkAuthJob)
	c.gate |= gateAuth
	c.signature = &signature{conn: c.id, key: c.connect.Nkey, nonce: c.nonce, text: c.connect.Sig, answer: answer}
	e.submit(c.signature)
}

func (s *signature) run() {
	sig, ok := decodeSignature(s.text)
	key, err := nkeys.FromPublicKey(s.key)
	s.ok = ok && err == nil && s.nonce != "" && key.Verify([]byte(s.nonce), sig) == nil
}

func (s *signature) done(e *Engine) {
	c := e.lookup(s.conn)
	if c == nil {
		return
	}
	if c.epoch != e.epoch {
		e.visitFirst(c)
	}
	if c.signature != s {
		return // the connection is closing, or has sent other credentials
	}
	c.signature = nil
	if !e.users.required() { // nothing is, since a reload
		e.decide(c, nil, true, s.answer)
		e.openAuth(c)
		return
	}
	who := e.users.byNkey[s.key]
	e.decide(c, who, s.ok && who != nil, s.answer)
	e.openAuth(c)
}

// decodeSignature reads a signature in either of the forms that clients send.
func decodeSignature(text string) (sig []byte, ok bool) {
	sig, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		sig, err = base64.StdEncoding.DecodeString(text)
	}
	return sig, err == nil
}
