package engine

import (
	"strconv"
	"time"

	"github.com/natsd/natsd/engine/assert"
	"github.com/natsd/natsd/wire"
)

// TLS is the world's part of TLS: the engine sees plaintext only and decides when a connection changes to TLS.
type TLS interface {
	// StartTLS begins the server's side of a handshake on a connection whose every byte sent was taken. head is what was
	// received and belongs to the handshake, borrowed until the call returns. It undoes PauseReading. TLSUp follows, or
	// Closed with the reason of the failure, and until then no other event for c but TLSHeld; the engine asks for nothing but Close.
	// From TLSUp on Received, Send and the others are about plaintext.
	StartTLS(c ConnID, head []byte)
}

// TLSOptions say how client connections use TLS. Certificates are the host's affair.
type TLSOptions struct {
	On bool // clients may use it, and must unless AllowPlain
	// AllowPlain lets clients stay in plaintext (allow_non_tls).
	AllowPlain bool
	// First has clients begin with the handshake, before INFO (handshake_first). Those that have sent nothing after
	// FirstWait get INFO in plaintext; zero: never.
	First     bool
	FirstWait time.Duration
	// Timeout is how long a handshake may take, where TLS is required from accept, or from INFO if that came after FirstWait;
	// default 2 s.
	Timeout time.Duration
	// Verify says in INFO that clients must show a certificate.
	Verify bool
	// Map says that the certificate is what a client proves itself by (verify_and_map).
	Map bool
	// OCSPPeer says that clients' certificates are checked by OCSP, for monitoring.
	OCSPPeer bool
	// Pinned are the only certificates that clients may show: SHA-256 of their public keys, in lower case hex. It is the host that
	// refuses others; the engine closes those of before that a reload has left out. Empty: any.
	Pinned []string
	// ConnectionRate bounds the connections accepted in a second; 0: no bound.
	ConnectionRate int
	// CertNotAfter is when the first certificate expires, for monitoring; 0: unknown.
	CertNotAfter WallTime
}

// required reports whether INFO demands TLS.
func (o *TLSOptions) required() bool {
	return o.On && (!o.AllowPlain || o.First && o.FirstWait == 0)
}

// TLSInfo is what is known of a connection's TLS.
type TLSInfo struct {
	Version     string // "1.3"
	CipherSuite string // "TLS_AES_128_GCM_SHA256"
	// Verified says that the client's certificate was checked against the authorities that are trusted for that.
	Verified bool
	// Peer are the client's certificate and those it sent with it, its own first.
	Peer []TLSCert
	// Chains are those that verify it: certificates (DER) from it to one that is trusted.
	Chains [][][]byte
	// First says that the handshake came before INFO. The engine fills it in.
	First bool
}

// TLSCert is what is used of a certificate.
type TLSCert struct {
	Subject    string     // distinguished name (RFC 2253), the most specific part first
	RDNs       [][]TLSRDN // the same in parts, in the order of the certificate
	Emails     []string   // subject alternative names
	DNSNames   []string
	URIs       []string
	SPKISHA256 string // lower case hex, of the public key as the certificate has it
	CertSHA256 string // the same of the certificate
	Raw        []byte // DER
}

// TLSRDN is one attribute of a relative distinguished name.
type TLSRDN struct{ Type, Value string } // Type is the short name where it has one, else the dotted number

// tlsHandshakeRecord is the first byte of every TLS connection.
const tlsHandshakeRecord = 0x16

const defaultTLSTimeout = 2 * time.Second

// tlsInfoFlags tells clients what is expected of them.
func (e *Engine) tlsInfoFlags(i *wire.Info) {
	o := &e.opts.TLS
	i.TLSRequired, i.TLSVerify, i.TLSAvailable = o.required(), o.On && o.Verify, o.On && o.AllowPlain
}

// logTLS says after the start what is expected of clients.
func (e *Engine) logTLS() {
	switch o := &e.opts.TLS; {
	case !o.On:
	case o.required():
		e.logf(LevelInfo, "", "TLS required for client connections")
		if o.First && o.FirstWait == 0 {
			e.logf(LevelWarn, "", `Clients that are not using "TLS Handshake First" option will fail to connect`)
		}
	default:
		e.logf(LevelInfo, "", "TLS available for client connections")
	}
}

// tlsRate counts the connections accepted in one second, and those that were refused.
type tlsRate struct {
	end            Instant
	count, refused int
	timer          timer // when the log is told of the refused ones
}

// throttled counts a connection and reports whether there were too many.
func (e *Engine) throttled() bool {
	most := e.opts.TLS.ConnectionRate
	if !e.opts.TLS.On || most <= 0 {
		return false
	}
	r := &e.tlsRate
	if e.now >= r.end {
		r.end, r.count = later(e.now, time.Second), 0
	}
	if r.count++; r.count <= most {
		return false
	}
	if r.refused++; r.refused == 1 {
		r.timer.who = r
		e.timers.set(&r.timer, r.end)
	}
	return true
}

// due implements dueTaker.
func (r *tlsRate) due(e *Engine) {
	e.logf(LevelWarn, "", "Rejected "+strconv.Itoa(r.refused)+" connections due to TLS rate limiting")
	r.refused = 0
}

// awaitTLS prepares a new connection, whose INFO waits to be sent, for TLS.
func (e *Engine) awaitTLS(c *conn) {
	o := &e.opts.TLS
	c.opening = tlsAwaited
	if o.First {
		c.blocked, c.progress = true, Never // the INFO is held
		if o.FirstWait > 0 {
			c.helloEnd = later(e.now, o.FirstWait)
		}
	}
	e.demandTLS(c)
}

// demandTLS gives a connection that must begin with a handshake, as things stand, its time for that.
func (e *Engine) demandTLS(c *conn) {
	if o := &e.opts.TLS; c.infoHeld() || !o.AllowPlain {
		c.gate |= gateOpening
		c.authEnd = 0 // begins when TLS is up
		if c.helloEnd == 0 {
			c.openingEnd = later(e.now, o.Timeout) // else begins with INFO: a client that waits for that has done nothing slowly
		}
	}
}

// tlsReceived takes the first bytes of a connection that may become TLS. It returns false if they are plaintext after all.
func (e *Engine) tlsReceived(c *conn, data []byte) bool {
	switch c.opening {
	case tlsAwaited:
		held := c.infoHeld()
		if !held && e.opts.TLS.AllowPlain && data[0] != tlsHandshakeRecord {
			c.opening, c.openingEnd = 0, 0
			e.open(c, gateOpening)
			return false
		}
		c.gate |= gateOpening
		c.authEnd, c.helloEnd = 0, 0
		if c.openingEnd == 0 {
			c.openingEnd = later(e.now, e.opts.TLS.Timeout)
		}
		e.arm(c)
		if held || c.out.pending == 0 {
			c.tlsFirst = held
			e.startTLS(c, data)
			return true
		}
		c.opening = tlsWanted
		e.keep(c, data, nil)
		e.touch(c)
	case tlsWanted:
		e.keep(c, data, nil)
	default:
		assert.That(false, "Received during a handshake")
	}
	return true
}

// tlsWritten begins the handshake of a connection that waited for its plaintext to be sent.
func (e *Engine) tlsWritten(c *conn) {
	if c.opening != tlsWanted || c.out.pending > 0 || c.gate&gateClosed != 0 {
		return
	}
	head := c.stash
	c.paused = false
	e.startTLS(c, head)
	e.unstash(c)
}

func (e *Engine) startTLS(c *conn, head []byte) {
	c.opening = tlsHandshake
	c.blocked, c.progress = true, Never // what is to be sent waits for the handshake
	e.mark(MarkTLSStart)
	e.env.TLS.StartTLS(c.id, head)
}

// TLSUp tells that a handshake has succeeded.
func (e *Engine) TLSUp(id ConnID, info TLSInfo) {
	c := e.lookup(id)
	if c == nil || c.gate&gateClosed != 0 {
		return
	}
	assert.That(c.opening == tlsHandshake, "TLSUp: nothing was asked for")
	info.First = c.tlsFirst
	c.opening, c.openingEnd, c.tlsInfo = 0, 0, &info
	c.blocked, c.progress = false, 0
	if c.repin && e.unpinned(c) {
		return
	}
	if e.debugs(c) {
		e.logf(e.debugLevel(), c.subject(), "TLS handshake complete")
		e.logf(e.debugLevel(), c.subject(), "TLS version "+info.Version+", cipher suite "+info.CipherSuite)
	}
	if !c.authed {
		c.authEnd = later(e.now, e.opts.AuthTimeout)
	}
	e.arm(c)
	e.touch(c)
	e.open(c, gateOpening)
}

// TLSHeld tells that a handshake begins, or ends, to wait for somebody else than its client. That time is not the client's.
func (e *Engine) TLSHeld(id ConnID, held bool) {
	c := e.lookup(id)
	if c == nil || c.opening != tlsHandshake || c.gate&gateClosed != 0 {
		return
	}
	if c.openingEnd = 0; !held {
		c.openingEnd = later(e.now, e.opts.TLS.Timeout)
	}
	e.arm(c)
}

// openingTimer handles what is due for a connection that does not speak the protocol yet. It returns false if it has ended the
// connection.
func (e *Engine) openingTimer(c *conn) bool {
	if c.helloEnd > 0 && e.now >= c.helloEnd {
		c.helloEnd = 0
		c.blocked, c.progress = false, 0
		switch {
		case c.proxyAwaited(): // what begins with INFO begins behind the header then
		case e.opts.TLS.AllowPlain:
			if !c.authed {
				c.authEnd = later(e.now, e.opts.AuthTimeout)
			}
			e.open(c, gateOpening)
		default:
			c.openingEnd = later(e.now, e.opts.TLS.Timeout)
		}
		e.touch(c)
	}
	if c.openingEnd > 0 && e.now >= c.openingEnd {
		if c.proxyAwaited() {
			e.proxyTimeout(c)
			return false
		}
		e.mark(MarkTLSTimeout)
		e.tlsFailed(c, tlsTimeout)
		e.abandon(c)
		return false
	}
	return true
}

// tlsFailed says why a connection did not become TLS and takes it out of everything.
func (e *Engine) tlsFailed(c *conn, why string) {
	if c.gate&gateClosed != 0 {
		return
	}
	e.mark(MarkTLSFailed)
	switch {
	case why != tlsTimeout && why != TLSNotTLS:
		e.complain(c, "TLS handshake error: "+printable([]byte(why)))
	case e.debugs(c): // whoever looks whether the port is open does that
		e.complainAt(e.debugLevel(), c, "TLS handshake error: "+why)
	}
	e.detach(c, ReasonTLSHandshake)
}

// tlsTimeout is the reason where it took too long.
const tlsTimeout = "timeout"

// TLSNotTLS is the reason of the failure where a peer speaks something else.
const TLSNotTLS = "tls: first record does not look like a TLS handshake"

// tlsEOF takes the end of the stream of a connection that may become TLS. It returns false if it ends as any other does.
func (e *Engine) tlsEOF(c *conn) bool {
	if c.gate&gateOpening == 0 {
		c.opening = 0
		return false
	}
	e.tlsFailed(c, "EOF")
	e.abandon(c)
	return true
}

// unspoken reports whether nothing can be said to the peer: it waits for TLS, and what it got in plaintext would be taken
// for a part of that.
func (c *conn) unspoken() bool { return c.opening == tlsHandshake || c.infoHeld() }

// infoHeld reports whether INFO waits for a handshake that comes first.
func (c *conn) infoHeld() bool {
	return c.opening != 0 && c.opening <= tlsAwaited && c.blocked && c.progress == Never
}
