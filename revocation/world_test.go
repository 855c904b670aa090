package revocation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// authority issues certificates and answers for them.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (a *authority) issue(name string, template *x509.Certificate) *authority {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(a.t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	ok(a.t, err)
	template.SerialNumber, template.Subject = serial, pkix.Name{CommonName: name}
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	ok(a.t, err)
	cert, err := x509.ParseCertificate(der)
	ok(a.t, err)
	return &authority{a.t, cert, key}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a root, an authority below it, a responder of both, and a Checker with its log.
type world struct {
	t           *testing.T
	root, inter *authority
	url         string
	c           *Checker
	log         *log
	policy      Policy

	mu     sync.Mutex // guards what follows
	say    map[string]func(r *reply)
	asked  map[string]int
	unsure chan struct{} // where not nil, answers wait for its end
}

// reply is what the responder is about to answer.
type reply struct {
	ocsp.Response
	signer *authority
	cert   *authority // sent along
	status int        // of HTTP; 0: the answer is raw, or Response
	raw    []byte
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, log: &log{}, policy: Policy{Timeout: time.Minute, Skew: DefaultSkew, TTL: DefaultTTL},
		say: map[string]func(*reply){}, asked: map[string]int{},
	}
	s := httptest.NewServer(http.HandlerFunc(w.answer))
	t.Cleanup(s.Close)
	w.url = s.URL
	ca := x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root, inter := ca, ca
	inter.OCSPServer = []string{w.url + "/above/"}
	w.root = (&authority{t: t}).issue("root", &root)
	w.inter = w.root.issue("inter", &inter)
	w.c = New(w.log)
	t.Cleanup(w.c.Close)
	return w
}

// peer is a chain with a certificate that names the given responders, or the authority's.
func (w *world) peer(name string, urls ...string) []*x509.Certificate {
	w.t.Helper()
	if len(urls) == 0 {
		urls = []string{w.url}
	}
	p := w.inter.issue(name, &x509.Certificate{OCSPServer: urls})
	return []*x509.Certificate{p.cert, w.inter.cert, w.root.cert}
}

// answers changes what the responder says of a certificate.
func (w *world) answers(c *x509.Certificate, change func(*reply)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.say[c.SerialNumber.String()] = change
}

func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	signer, path := w.inter, r.URL.EscapedPath()
	if rest, below := strings.CutPrefix(path, "/above"); below {
		signer, path = w.root, rest
	}
	text, err := url.QueryUnescape(strings.TrimPrefix(path, "/"))
	if err == nil {
		var raw []byte
		raw, err = base64.StdEncoding.DecodeString(text)
		if err == nil {
			var q *ocsp.Request
			if q, err = ocsp.ParseRequest(raw); err == nil {
				w.reply(rw, signer, q.SerialNumber)
				return
			}
		}
	}
	http.Error(rw, err.Error(), http.StatusBadRequest)
}

func (w *world) reply(rw http.ResponseWriter, signer *authority, serial *big.Int) {
	a := &reply{signer: signer, Response: ocsp.Response{
		Status: ocsp.Good, SerialNumber: serial, ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Hour),
	}}
	w.mu.Lock()
	w.asked[serial.String()]++
	change, unsure := w.say[serial.String()], w.unsure
	w.mu.Unlock()
	if unsure != nil {
		<-unsure
	}
	if change != nil {
		change(a)
	}
	if a.Status == ocsp.Revoked {
		a.RevokedAt = time.Now().Add(-time.Minute)
	}
	if a.status != 0 {
		http.Error(rw, "no", a.status)
		return
	}
	if a.raw == nil {
		responder := a.signer.cert
		if a.cert != nil {
			responder, a.Response.Certificate = a.cert.cert, a.cert.cert
		}
		var err error
		if a.raw, err = ocsp.CreateResponse(signer.cert, responder, a.Response, a.signer.key); err != nil {
			panic(err)
		}
	}
	_, _ = rw.Write(a.raw) // who asked has gone away
}

func (w *world) askedFor(c *x509.Certificate) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[c.SerialNumber.String()]
}

func (w *world) check(chains ...[]*x509.Certificate) error {
	return w.c.Check(w.t.Context(), &w.policy, chains)
}

// expect checks a peer and what the log and the events say of it.
func (w *world) expect(what string, chain []*x509.Certificate, good bool, lines ...string) {
	w.t.Helper()
	w.log.take()
	err := w.check(chain)
	if (err == nil) != good {
		w.t.Errorf("%s: %v", what, err)
	}
	text := w.log.take()
	for _, l := range lines {
		if !strings.Contains(text, strings.ReplaceAll(l, "KEY", Fingerprint(chain[0]))) {
			w.t.Errorf("%s: nothing like %q in\n%s", what, l, text)
		}
	}
	if rejected := strings.Contains(text, "[REJECTED]"); rejected == good {
		w.t.Errorf("%s: told of a rejection: %v", what, rejected)
	}
}

// log is a Witness.
type log struct {
	mu        sync.Mutex
	text, all strings.Builder
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range []*strings.Builder{&l.text, &l.all} {
		fmt.Fprintf(b, format+"\n", args...)
	}
}

// whole returns all that has ever been told.
func (l *log) whole() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// take returns what has been told since it was asked before.
func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

func (l *log) Debugf(format string, args ...any) { l.add("[DBG] "+format, args...) }
func (l *log) Infof(format string, args ...any)  { l.add("[INF] "+format, args...) }
func (l *log) Warnf(format string, args ...any)  { l.add("[WRN] "+format, args...) }
func (l *log) Errorf(format string, args ...any) { l.add("[ERR] "+format, args...) }
func (l *log) Invalid(link, peer *x509.Certificate, reason string) {
	l.add("[INVALID] %s of %s: %s", link.Subject, peer.Subject, reason)
}
func (l *log) Rejected(peer *x509.Certificate, reason string) {
	l.add("[REJECTED] %s: %s", peer.Subject, reason)
}
