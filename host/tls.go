package host

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/revocation"
)

// TLS runs at the edge: crypto/tls over the sockets, on goroutines and threads of its own, and the loop sees plaintext only.
// The engine says when a connection changes to TLS; how it does is in edge_linux.go and portable_tls.go.

// handshakes bounds how many handshakes compute at a time: all but one of the processors, which is the loop's. Handshakes
// that wait for their peers don't count.
type handshakes chan struct{}

func newHandshakes(processors int) handshakes { return make(handshakes, besides(processors)) }

// transport is what crypto/tls reads ciphertext from and writes it to. During the handshake that is a socket that blocks;
// later the edge replaces it.
type transport struct {
	now stream
}

// stream is the part of a net.Conn that crypto/tls uses.
type stream interface {
	io.Reader
	io.Writer
}

// Read implements net.Conn.
func (t *transport) Read(b []byte) (int, error) { return t.now.Read(b) }

// Write implements net.Conn.
func (t *transport) Write(b []byte) (int, error) { return t.now.Write(b) }

// Close implements net.Conn. Sockets are closed by who opened them.
func (t *transport) Close() error { return nil }

// LocalAddr implements net.Conn.
func (t *transport) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (t *transport) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline implements net.Conn: deadlines are the engine's.
func (t *transport) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (t *transport) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }

// shaking is the stream of a handshake: what was received before it began comes first, and whoever waits for the peer
// leaves its place among those that compute to another.
type shaking struct {
	head   []byte
	socket stream
	slots  handshakes
}

// Read implements net.Conn.
func (h *shaking) Read(b []byte) (int, error) {
	if len(h.head) > 0 {
		n := copy(b, h.head)
		h.head = h.head[n:]
		return n, nil
	}
	<-h.slots
	defer func() { h.slots <- struct{}{} }()
	return h.socket.Read(b)
}

// Write implements net.Conn.
func (h *shaking) Write(b []byte) (int, error) {
	<-h.slots
	defer func() { h.slots <- struct{}{} }()
	return h.socket.Write(b)
}

// errNoTLS is why a handshake fails on a server that was given no certificates.
var errNoTLS = errors.New("no certificate is configured")

// shake carries out the server's side of a handshake that begins with head. What it returns of head was not used up: it
// comes before what is read from the socket. What does not wait for the socket ends with ctx.
func (s *Server) shake(ctx context.Context, id engine.ConnID, t *transport, socket stream, head []byte) (c *tls.Conn, rest []byte, err error) {
	if s.opts.TLS == nil {
		return nil, nil, errNoTLS
	}
	h := &shaking{head: head, socket: socket, slots: s.handshakes}
	t.now = h
	c = tls.Server(t, s.opts.TLS)
	s.handshakes <- struct{}{}
	defer func() { <-s.handshakes }()
	// Whoever waits for an authority's word computes nothing meanwhile. The context of the handshake itself does not end: crypto/tls
	// would start a goroutine for that.
	err = c.HandshakeContext(revocation.During(context.Background(), func(wait func(context.Context)) {
		<-s.handshakes
		defer func() { s.handshakes <- struct{}{} }()
		s.post(func(e *engine.Engine) { e.TLSHeld(id, true) })
		defer s.post(func(e *engine.Engine) { e.TLSHeld(id, false) })
		wait(ctx)
	}))
	return c, h.head, err
}

// handshakeError says why a handshake failed, in nats-server's words where it has some.
func handshakeError(err error) string {
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &record):
		return record.Error() // engine.TLSNotTLS; or what else is wrong with a record: SSLv2, another version, too long
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	}
	if refused := (*tls.CertificateVerificationError)(nil); errors.As(err, &refused) {
		return plainError(err) + shown(refused.UnverifiedCertificates)
	}
	return plainError(err)
}

// What a log line shows of certificates that were refused.
const (
	shownCertsMax   = 4
	shownSubjectMax = 256 // bytes
)

// shown names certificates by their subjects and the SHA-256 of the whole, for who has to find them; empty: there are none.
func shown(certs []*x509.Certificate) string {
	var names []string
	for _, c := range certs[:min(len(certs), shownCertsMax)] {
		subject := c.Subject.String()
		if len(subject) > shownSubjectMax {
			subject = strings.ToValidUTF8(subject[:shownSubjectMax], "") + "…"
		}
		sum := sha256.Sum256(c.Raw)
		names = append(names, subject+" SHA-256: "+hex.EncodeToString(sum[:]))
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, "; ") + ")"
}

// plainError is the reason of an error without the names of file operations.
func plainError(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// tlsInfo is what the engine is told of a connection's TLS.
func tlsInfo(s tls.ConnectionState) engine.TLSInfo {
	i := engine.TLSInfo{
		Version: strings.TrimPrefix(tls.VersionName(s.Version), "TLS "), CipherSuite: tls.CipherSuiteName(s.CipherSuite),
		Verified: len(s.VerifiedChains) > 0,
	}
	for _, c := range s.PeerCertificates {
		i.Peer = append(i.Peer, tlsCert(c))
	}
	for _, chain := range s.VerifiedChains {
		ders := make([][]byte, len(chain))
		for k, c := range chain {
			ders[k] = c.Raw
		}
		i.Chains = append(i.Chains, ders)
	}
	return i
}

func tlsCert(c *x509.Certificate) engine.TLSCert {
	key, whole := sha256.Sum256(c.RawSubjectPublicKeyInfo), sha256.Sum256(c.Raw)
	f := engine.TLSCert{
		Subject: c.Subject.String(), Emails: c.EmailAddresses, DNSNames: c.DNSNames,
		SPKISHA256: hex.EncodeToString(key[:]), CertSHA256: hex.EncodeToString(whole[:]),
		RDNs: relativeNames(c.RawSubject), Raw: c.Raw,
	}
	for _, u := range c.URIs {
		f.URIs = append(f.URIs, u.String())
	}
	return f
}

// attributeNames are the short names of RFC 4514 and those that certificates of the wild use besides.
var attributeNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
	"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.17": "POSTALCODE",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
}

// relativeNames are the parts of a distinguished name, in the order of the certificate.
func relativeNames(raw []byte) (names [][]engine.TLSRDN) {
	var sequence pkix.RDNSequence
	if rest, err := asn1.Unmarshal(raw, &sequence); err != nil || len(rest) > 0 {
		return nil
	}
	for _, set := range sequence {
		var name []engine.TLSRDN
		for _, a := range set {
			kind := a.Type.String()
			if short := attributeNames[kind]; short != "" {
				kind = short
			}
			name = append(name, engine.TLSRDN{Type: kind, Value: fmt.Sprint(a.Value)})
		}
		names = append(names, name)
	}
	return names
}
