//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// secure is the TLS of a connection. crypto/tls works on memory here: it finds in
// in what has arrived and leaves in out what is to be sent, so that the one
// thread never waits for a socket.
type secure struct {
	net.Conn // for what crypto/tls does not call
	fd       int
	tls      *tls.Conn
	waits    bool   // during the handshake reading waits for the socket
	in       []byte // of buf, ciphertext that has arrived
	buf      []byte
	out      []byte // ciphertext that the socket did not take
}

const (
	secureReadBytes = 256 << 10
	// securePieceBytes is how much is encrypted before it is sent.
	securePieceBytes = 64 << 10
)

// errLater is what crypto/tls gets when nothing has arrived; it can go on later.
type errLater struct{}

// Error implements net.Error.
func (errLater) Error() string { return "nothing has arrived" }

// Timeout implements net.Error.
func (errLater) Timeout() bool { return true }

// Temporary implements net.Error.
func (errLater) Temporary() bool { return true }

// Read implements net.Conn.
func (s *secure) Read(b []byte) (int, error) {
	if len(s.in) == 0 {
		if !s.waits {
			return 0, errLater{}
		}
		if n, errno := s.fill(); n == 0 {
			return 0, fmt.Errorf("handshake: %w", errors.Join(errno, io.ErrUnexpectedEOF))
		}
	}
	n := copy(b, s.in)
	s.in = s.in[n:]
	return n, nil
}

// Write implements net.Conn.
func (s *secure) Write(b []byte) (int, error) {
	s.out = append(s.out, b...)
	if s.waits && !s.flush() {
		return 0, errors.New("handshake: the socket takes nothing")
	}
	return len(b), nil
}

// SetWriteDeadline implements net.Conn.
func (s *secure) SetWriteDeadline(time.Time) error { return nil }

// fill reads from the socket once.
func (s *secure) fill() (int, unix.Errno) {
	n, errno := readNow(s.fd, s.buf)
	for errno == unix.EINTR {
		n, errno = readNow(s.fd, s.buf)
	}
	if errno != 0 {
		n = 0
	}
	s.in = s.buf[:n]
	return n, errno
}

// flush sends what waits and says whether nothing waits any more.
func (s *secure) flush() bool {
	for len(s.out) > 0 {
		n, errno := writeNow(s.fd, s.out)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return false
		}
		s.out = s.out[:copy(s.out, s.out[n:])]
	}
	return true
}

// start changes a connection to TLS.
func (c *conn) start(config *tls.Config) error {
	s := &secure{fd: c.fd, waits: true, buf: make([]byte, secureReadBytes)}
	s.tls = tls.Client(s, config)
	if err := s.tls.Handshake(); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	s.waits = false
	c.secure = s
	return nil
}

// receive appends to dst what has arrived, decrypted, after at most one read that
// found something.
func (s *secure) receive(dst []byte) ([]byte, unix.Errno) {
	before := len(dst)
	for {
		var err error
		for err == nil {
			if cap(dst)-len(dst) < readBytesAtLeast {
				dst = append(make([]byte, 0, 2*cap(dst)+securePieceBytes), dst...)
			}
			var n int
			n, err = s.tls.Read(dst[len(dst):cap(dst)])
			dst = dst[:len(dst)+n]
		}
		if len(dst) > before || !errors.Is(err, errLater{}) {
			return dst, 0 // at the end of the stream nothing is added
		}
		if n, errno := s.fill(); n == 0 {
			return dst, errno
		}
	}
}

// send encrypts and sends b and returns how much of it is on its way. Less than
// all means a full socket, and so does EAGAIN.
func (s *secure) send(b []byte) (int, unix.Errno) {
	sent := 0
	for {
		if !s.flush() {
			if sent == 0 {
				return 0, unix.EAGAIN
			}
			return sent, 0
		}
		if sent == len(b) {
			return sent, 0
		}
		piece := b[sent:min(len(b), sent+securePieceBytes)]
		if _, err := s.tls.Write(piece); err != nil {
			return sent, unix.EPIPE
		}
		sent += len(piece)
	}
}

// certificate makes a certificate for the servers under test and returns what
// makes them use it, and what makes clients accept it.
func certificate(dir string) (flags []string, client *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	err = errors.Join(
		os.WriteFile(certFile, public, 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	client = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, DynamicRecordSizingDisabled: true}
	return []string{"--tls", "--tlscert", certFile, "--tlskey", keyFile}, client, err
}
