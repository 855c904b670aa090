package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/crypto/ocsp"

	"github.com/natsd/natsd/natsdtest"
	embedded "github.com/natsd/natsd/server"
)

// responder says of an authority's certificates whether they are revoked.
type responder struct {
	*authority
	url     string
	hangs   chan struct{} // where not nil, who is asked for a certificate that hangs does not answer before its end
	asked   chan struct{} // gets one for each that does
	mu      sync.Mutex    // guards what follows
	revoked map[string]bool
}

func newResponder(t *testing.T) *responder {
	t.Helper()
	r := &responder{authority: newAuthority(t), revoked: map[string]bool{}, asked: make(chan struct{}, 100)}
	s := httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (r *responder) answer(w http.ResponseWriter, q *http.Request) {
	if strings.HasPrefix(q.URL.Path, "/hang") {
		r.asked <- struct{}{}
		<-r.hangs
	}
	text, err := url.QueryUnescape(strings.TrimPrefix(q.URL.EscapedPath(), "/"))
	raw, err2 := base64.StdEncoding.DecodeString(text)
	question, err3 := ocsp.ParseRequest(raw)
	if err != nil || err2 != nil || err3 != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	a := ocsp.Response{SerialNumber: question.SerialNumber, ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour)}
	r.mu.Lock()
	if r.revoked[question.SerialNumber.String()] {
		a.Status, a.RevokedAt = ocsp.Revoked, time.Now().Add(-time.Minute)
	}
	r.mu.Unlock()
	answer, err := ocsp.CreateResponse(r.cert, r.cert, a, r.key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(answer) // whoever asked has gone away
}

// peer issues a certificate whose responder is at path; empty: it names none.
func (r *responder) peer(name, path string) tls.Certificate {
	r.t.Helper()
	template := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	template.Subject.CommonName = name
	if path != "" {
		template.OCSPServer = []string{r.url + path}
	}
	cert, err := tls.LoadX509KeyPair(r.issue(name, template))
	ok(r.t, err)
	return cert
}

func (r *responder) revoke(c tls.Certificate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revoked[c.Leaf.SerialNumber.String()] = true
}

// serveChecking starts a server that checks its clients by OCSP, with a configuration file that write changes.
func (w *world) serveChecking(r *responder, block string) (s *server, write func(block string)) {
	w.t.Helper()
	cert, key := r.server("server")
	file, cache := filepath.Join(r.dir, "natsd.conf"), filepath.Join(r.dir, "answers")
	write = func(block string) {
		w.t.Helper()
		ok(w.t, os.WriteFile(file, fmt.Appendf(nil, `
			accounts { SYS { users: [ {user: sys, password: p} ] }, A { users: [ {user: a, password: p} ] } }
			system_account: SYS
			no_auth_user: a
			http: 127.0.0.1:-1
			debug: true
			ocsp_cache { local_store: %q }
			tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true, timeout: 2, %s }
		`, cache, cert, key, r.caFile, block), 0o600))
	}
	write(block)
	o := embedded.Options{Log: &lines{}, ConfigFile: file, Host: "127.0.0.1"}
	if w.portable {
		o.Flags = []string{"--portable"}
	}
	srv, err := natsdtest.Start(w.t, o)
	ok(w.t, err)
	s = &server{Server: srv, w: w, url: srv.URL(), addr: srv.Addr(), log: o.Log.(*lines)}
	return s, write
}

func (s *server) refuses(config *tls.Config) {
	s.w.t.Helper()
	nc, err := nats.Connect(s.url, nats.Secure(config), nats.Timeout(patience), nats.NoReconnect())
	if err == nil {
		nc.Close()
		s.w.t.Error("a client with a revoked certificate is connected")
	}
}

func TestOCSPPeers(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		r := newResponder(t)
		good, bad := r.peer("good", "/"), r.peer("bad", "/")
		r.revoke(bad)
		s, write := w.serveChecking(r, "ocsp_peer: true")
		sys := s.secure(r.trust(r.peer("operator", "")), nats.UserInfo("sys", "p"))
		events, err := sys.SubscribeSync("$SYS.SERVER.*.OCSP.>")
		ok(t, err)
		ok(t, sys.Flush())

		nc := s.secure(r.trust(good))
		roundTrip(t, nc, "x", 100)
		s.refuses(r.trust(bad))
		for _, want := range []string{".OCSP.PEER.LINK.INVALID", ".OCSP.PEER.CONN.REJECT"} {
			m, err := events.NextMsg(patience)
			ok(t, err)
			var body struct{ Peer struct{ Subject, Raw string } }
			ok(t, json.Unmarshal(m.Data, &body))
			if !strings.HasSuffix(m.Subject, want) || body.Peer.Subject != "CN=bad" || body.Peer.Raw != base64.StdEncoding.EncodeToString(bad.Leaf.Raw) {
				t.Errorf("%s: %s", m.Subject, m.Data)
			}
		}
		until(t, "the refusal to be logged", func() bool {
			return s.log.contains("OCSP verify fail for [CN=bad] with CA status [revoked]") && s.log.contains("TLS handshake error: client not OCSP valid")
		})
		varz := func(want string) {
			t.Helper()
			a, err := http.Get(s.MonitorURL() + "/varz")
			ok(t, err)
			defer a.Body.Close()
			text, err := io.ReadAll(a.Body)
			ok(t, err)
			var v struct {
				Checks bool           `json:"tls_ocsp_peer_verify"`
				Cache  map[string]any `json:"ocsp_peer_cache"`
			}
			ok(t, json.Unmarshal(text, &v))
			if got := fmt.Sprint(v.Checks, v.Cache); got != want {
				t.Errorf("varz: %s, want %s", got, want)
			}
		}
		varz("true map[cache_misses:2 cache_type:local cached_good_responses:1 cached_responses:2 cached_revoked_responses:1]")

		// Nobody who is connected is touched by what changes.
		write("ocsp_peer: false")
		ok(t, s.Reload())
		varz("false map[]")
		spared := s.secure(r.trust(bad))
		roundTrip(t, spared, "y", 100)
		write("ocsp_peer { verify: true, ca_timeout: 1 }")
		ok(t, s.Reload())
		s.refuses(r.trust(bad))
		roundTrip(t, spared, "y", 100)
		roundTrip(t, nc, "x", 100)
		varz("true map[cache_hits:1 cache_type:local cached_good_responses:1 cached_responses:2 cached_revoked_responses:1]")
		write("ocsp_peer { verify: true, warn_only: true }")
		ok(t, s.Reload())
		roundTrip(t, s.secure(r.trust(bad)), "z", 100)
	})
}

// Handshakes whose authorities don't answer hold up nobody else, and not the end of the server.
func TestOCSPResponderHangs(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		r := newResponder(t)
		r.hangs = make(chan struct{})
		defer close(r.hangs)
		s, _ := w.serveChecking(r, `ocsp_peer { verify: true, ca_timeout: "1h" }`)
		const many = 5
		failed := make(chan error, many)
		for i := range many {
			config := r.trust(r.peer(fmt.Sprint(i), "/hang"))
			go func() {
				nc, err := nats.Connect(s.url, nats.Secure(config), nats.Timeout(patience), nats.NoReconnect())
				if err == nil {
					nc.Close()
				}
				failed <- err
			}()
		}
		for range many {
			receive(t, "the responder to be asked", r.asked)
		}
		roundTrip(t, s.secure(r.trust(r.peer("known", ""))), "x", 100)
		roundTrip(t, s.secure(r.trust(r.peer("good", "/"))), "x", 100)
		s.Stop()
		for range many {
			if receive(t, "the clients to be let go", failed) == nil {
				t.Error("a client is connected that nobody vouches for")
			}
		}
	})
}
