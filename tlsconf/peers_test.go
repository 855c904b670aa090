package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/natsd/natsd/revocation"
)

// silent is a witness that says nothing.
type silent struct{}

func (silent) Debugf(string, ...any)                                {}
func (silent) Infof(string, ...any)                                 {}
func (silent) Warnf(string, ...any)                                 {}
func (silent) Errorf(string, ...any)                                {}
func (silent) Invalid(*x509.Certificate, *x509.Certificate, string) {}
func (silent) Rejected(*x509.Certificate, string)                   {}

// meet carries out a handshake and returns what the server thinks of it.
func meet(t *testing.T, server, client *tls.Config) (resumed bool, err error) {
	t.Helper()
	port, err := net.Listen("tcp", "127.0.0.1:0") // a pipe holds nothing: both sides would wait to be read from
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	done := make(chan error, 1)
	go func() {
		there, err := port.Accept()
		if err != nil {
			done <- err
			return
		}
		s := tls.Server(there, server)
		err = s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x")) // behind the ticket
		}
		there.Close()
		done <- err
	}()
	here, err := net.Dial("tcp", port.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(here, client)
	if c.Handshake() == nil {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			resumed = c.ConnectionState().DidResume
		}
	}
	here.Close()
	return resumed, <-done
}

func TestPeersAreChecked(t *testing.T) {
	r := newResponder(t)
	s := r.settings(OCSPNever, false)
	s.Verify, s.Peers = true, &revocation.Policy{Timeout: time.Minute, Skew: time.Minute}
	cert, err := tls.LoadX509KeyPair(r.issue("client", &x509.Certificate{
		OCSPServer: []string{r.url}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}))
	if err != nil {
		t.Fatal(err)
	}
	client := &tls.Config{
		ServerName: "x", InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert},
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	config, err := Server(s)
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive(config)
	server := live.Clients()
	if _, err := meet(t, server, client); !errors.Is(err, ErrNoChecker) {
		t.Errorf("without a checker: %v", err)
	}
	checker := revocation.New(silent{})
	defer checker.Close()
	live.CheckPeers(checker)
	for _, want := range []bool{false, true} {
		if resumed, err := meet(t, server, client); err != nil || resumed != want {
			t.Errorf("good: %v, resumed: %v", err, resumed)
		}
	}
	r.status.Store(ocsp.Revoked)
	if _, err := meet(t, server, client); !errors.Is(err, revocation.ErrRejected) {
		t.Errorf("revoked, with a session from before: %v", err)
	}
	if shown(t, live.Monitoring()) != leaf(config) {
		t.Error("monitoring demands a certificate")
	}

	// What else the settings demand comes before.
	asked := r.asked.Load()
	s.PinnedCerts = []string{leaf(config)}
	next, err := Server(s)
	if err != nil {
		t.Fatal(err)
	}
	live.Replace(next)
	if _, err := meet(t, server, client); !errors.Is(err, ErrNotPinned) || r.asked.Load() != asked {
		t.Errorf("not pinned: %v, asked %d times", err, r.asked.Load()-asked)
	}
	s.PinnedCerts = []string{SPKI(cert.Leaf)}
	if next, err = Server(s); err != nil {
		t.Fatal(err)
	}
	live.Replace(next)
	if _, err := meet(t, server, client); !errors.Is(err, revocation.ErrRejected) {
		t.Errorf("pinned and revoked: %v", err)
	}
}
