package tlsconf

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// responder is an authority and its OCSP responder.
type responder struct {
	t      *testing.T
	dir    string
	url    string
	ca     *x509.Certificate
	key    *ecdsa.PrivateKey
	caFile string
	status atomic.Int64 // what it says, or one of the below
	only   atomic.Value // string: the one method that it knows
	asked  atomic.Int64
}

// What a responder may say besides.
const (
	mute    = -1
	endless = -2
	// Good, as said by an answer that is not, or by somebody else.
	expired    = -3
	early      = -4
	ageless    = -5
	delegated  = -6
	unentitled = -7
)

func newResponder(t *testing.T) *responder {
	t.Helper()
	r := &responder{t: t, dir: t.TempDir()}
	r.status.Store(ocsp.Good)
	s := httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(s.Close)
	r.url = s.URL
	r.caFile, _ = r.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return r
}

func (r *responder) answer(w http.ResponseWriter, q *http.Request) {
	r.asked.Add(1)
	if only, _ := r.only.Load().(string); only != "" && only != q.Method {
		http.Error(w, "no", http.StatusMethodNotAllowed)
		return
	}
	status := int(r.status.Load())
	body, err := io.ReadAll(q.Body)
	if q.Method == http.MethodGet {
		var text string
		text, err = url.QueryUnescape(strings.TrimPrefix(q.URL.EscapedPath(), "/"))
		body, _ = base64.StdEncoding.DecodeString(text) // what is wrong is no question
	}
	if status == endless {
		w.Write(make([]byte, 1<<20))
		return
	}
	question, parseErr := ocsp.ParseRequest(body)
	if err = errors.Join(err, parseErr); err != nil || status == mute {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	template := ocsp.Response{Status: max(status, ocsp.Good), SerialNumber: question.SerialNumber,
		ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour)}
	signer, key := r.ca, r.key
	switch status {
	case expired:
		template.NextUpdate = time.Now().Add(-time.Minute)
	case early:
		template.ThisUpdate = time.Now().Add(time.Minute)
	case ageless:
		template.NextUpdate = time.Time{}
	case delegated, unentitled:
		signer, key = r.delegate(status == delegated)
		template.Certificate = signer
	}
	answer, err := ocsp.CreateResponse(r.ca, signer, template, key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(answer)
}

// delegate is somebody who signs answers, and may be entitled to.
func (r *responder) delegate(entitled bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	template := &x509.Certificate{}
	if entitled {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	}
	c, err := tls.LoadX509KeyPair(r.issue("delegate", template))
	if err != nil {
		r.t.Error(err)
	}
	return c.Leaf, c.PrivateKey.(*ecdsa.PrivateKey)
}

func (r *responder) issue(name string, template *x509.Certificate) (certFile, keyFile string) {
	r.t.Helper()
	fatal := func(err error) {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal(err)
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := r.ca, r.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	fatal(err)
	if r.ca == nil {
		r.ca, err = x509.ParseCertificate(der)
		fatal(err)
		r.key = key
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	fatal(err)
	certFile, keyFile = filepath.Join(r.dir, name+".pem"), filepath.Join(r.dir, name+".key")
	fatal(os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	fatal(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certFile, keyFile
}

// settings are those of a server whose certificate may demand a staple.
func (r *responder) settings(mode OCSPMode, must bool) Settings {
	r.t.Helper()
	template := &x509.Certificate{DNSNames: []string{"x"}, OCSPServer: []string{r.url}}
	if must {
		value, err := asn1.Marshal([]int{statusRequest})
		if err != nil {
			r.t.Fatal(err)
		}
		template.ExtraExtensions = []pkix.Extension{{Id: mustStaple, Value: value}}
	}
	s := Settings{CAFile: r.caFile, OCSP: OCSP{Mode: mode}}
	s.CertFile, s.KeyFile = r.issue("server", template)
	return s
}

// staple is what a client is shown.
func staple(t *testing.T, server *tls.Config) []byte {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	go func() { _ = tls.Server(there, server).Handshake() }() // the client tells
	c := tls.Client(here, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState().OCSPResponse
}

func TestStapling(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    OCSPMode
		must    bool
		status  int64
		stapled bool
		refused string
	}{
		{"auto, not demanded", OCSPAuto, false, ocsp.Good, false, ""},
		{"auto, demanded", OCSPAuto, true, ocsp.Good, true, ""},
		{"auto, no answer", OCSPAuto, true, mute, false, "server.pem': exhausted ocsp servers: "},
		{"auto, not demanded, no answer", OCSPAuto, false, mute, false, ""},
		{"auto, expired", OCSPAuto, true, expired, false, "invalid ocsp NextUpdate, is past time: "},
		{"always, expired", OCSPAlways, false, expired, false, "invalid ocsp NextUpdate, is past time: "},
		{"always, from the future", OCSPAlways, false, early, false, "invalid ocsp ThisUpdate, is future time: "},
		{"always, for ever", OCSPAlways, false, ageless, true, ""},
		{"always, delegated", OCSPAlways, false, delegated, true, ""},
		{"always, delegated to nobody", OCSPAlways, false, unentitled, false, "OCSP response signer missing authorization by CA to act as OCSP signer"},
		{"auto, revoked", OCSPAuto, true, ocsp.Revoked, true, ""},
		{"always", OCSPAlways, false, ocsp.Good, true, ""},
		{"always, no answer", OCSPAlways, false, mute, false, "bad OCSP responder http status: [500]"},
		{"always, an answer too long", OCSPAlways, false, endless, false, "the answer is too long"},
		{"always, revoked", OCSPAlways, false, ocsp.Revoked, false, "found existing OCSP status for certificate at '"},
		{"always, unknown", OCSPAlways, false, ocsp.Unknown, false, "unknown"},
		{"must, not demanded", OCSPMust, false, mute, false, ""},
		{"must, demanded", OCSPMust, true, ocsp.Good, true, ""},
		{"must, no answer", OCSPMust, true, mute, false, "bad OCSP status update"},
		{"never", OCSPNever, true, ocsp.Good, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newResponder(t)
			r.status.Store(c.status)
			config, err := Server(r.settings(c.mode, c.must))
			if err != nil {
				t.Fatal(err)
			}
			err = config.Staple(t.Context())
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("got %v, want %s", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			raw := staple(t, NewLive(config).Clients())
			if (len(raw) > 0) != c.stapled {
				t.Errorf("%d bytes are stapled", len(raw))
			}
			if c.stapled {
				if answer, err := ocsp.ParseResponse(raw, r.ca); err != nil || int64(answer.Status) != max(c.status, ocsp.Good) {
					t.Errorf("%+v, %v", answer, err)
				}
			}
		})
	}
}

// A staple is renewed when half of its time is over; one that can't be is told of, and kept while it is valid.
func TestStaplesAreRenewed(t *testing.T) {
	r := newResponder(t)
	config, err := Server(r.settings(OCSPAlways, false))
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Staple(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := NewLive(config)
	type told struct {
		err   error
		fatal bool
	}
	problems := make(chan told, 10)
	var said []string
	a := config.staples[0]
	if wait := time.Until(a.next); wait < 25*time.Minute || wait > 31*time.Minute {
		t.Errorf("asked again in %v", wait)
	}
	first := a.staple
	r.status.Store(-1)
	a.next = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		live.KeepStapled(ctx, func(line string) { said = append(said, line) }, func(err error, fatal bool) { problems <- told{err, fatal} })
	}()
	if p := <-problems; p.fatal || !strings.Contains(p.err.Error(), "500") {
		t.Errorf("told %+v", p)
	}
	cancel()
	<-done
	if len(said) != 2 || said[0] != "OCSP Stapling enabled for Client connections" || !strings.HasPrefix(said[1], "Found OCSP status for Client certificate at '") {
		t.Errorf("said %q", said)
	}
	if string(staple(t, live.Clients())) != string(first) {
		t.Error("a valid staple was given up")
	}
	r.status.Store(ocsp.Revoked)
	a.next = time.Time{}
	next := live.renew(t.Context(), config, func(string) {}, func(err error, fatal bool) { problems <- told{err, fatal} })
	if p := <-problems; !p.fatal || !errors.Is(p.err, ErrRevoked) || !strings.HasPrefix(p.err.Error(), "Received OCSP status for Client certificate '") {
		t.Errorf("told %+v", p)
	}
	if wait := time.Until(next); wait > ocspRetry {
		t.Errorf("asked again in %v", wait)
	}
	a.validity, a.next = time.Time{}, time.Time{}
	r.status.Store(-1)
	live.renew(t.Context(), config, func(string) {}, func(error, bool) {})
	if raw := staple(t, live.Clients()); len(raw) > 0 {
		t.Error("an old staple is shown")
	}
}

// A responder is asked by POST, and by GET where that fails.
func TestStaplingAsksByPostAndGet(t *testing.T) {
	for _, c := range []struct {
		only    string
		mode    OCSPMode
		asked   int64
		refused string
	}{
		{http.MethodPost, OCSPAlways, 1, ""},
		{http.MethodGet, OCSPAlways, 2, ""},
		{http.MethodGet, OCSPAuto, 2, ""},
		{http.MethodPut, OCSPAuto, 2, ": by POST: bad OCSP responder http status: [405]; by GET: bad OCSP responder http status: [405]"},
	} {
		r := newResponder(t)
		r.only.Store(c.only)
		config, err := Server(r.settings(c.mode, true))
		if err != nil {
			t.Fatal(err)
		}
		if err = config.Staple(t.Context()); c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("only %s: %v", c.only, err)
		}
		if n := r.asked.Load(); n != c.asked {
			t.Errorf("only %s: asked %d times", c.only, n)
		}
	}
}

func TestStaplingNeedsIssuerAndResponder(t *testing.T) {
	r := newResponder(t)
	s := r.settings(OCSPAlways, false)
	s.CAFile = ""
	if _, err := Server(s); err == nil || !strings.Contains(err.Error(), "issuer") {
		t.Errorf("without an issuer: %v", err)
	}
	s = Settings{CAFile: r.caFile, OCSP: OCSP{Mode: OCSPAlways}}
	s.CertFile, s.KeyFile = r.issue("other", &x509.Certificate{DNSNames: []string{"x"}})
	if _, err := Server(s); err == nil || !strings.Contains(err.Error(), "no available ocsp servers") {
		t.Errorf("without a responder: %v", err)
	}
	s.OCSP.URLs = []string{"http://127.0.0.1:1/", r.url}
	config, err := Server(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Staple(t.Context()); err != nil {
		t.Errorf("with the second of two responders: %v", err)
	}
}

// What is shown goes when its time is over, and is renewed before, however short that is.
func TestStaplesDoNotOutliveTheirTime(t *testing.T) {
	r := newResponder(t)
	config, err := Server(r.settings(OCSPAuto, true))
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Staple(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, now := config.staples[0], time.Now()
	a.take(a.staple, &ocsp.Response{NextUpdate: now.Add(10 * time.Second)}, now)
	if want := now.Add(5 * time.Second); !a.next.Equal(want) {
		t.Errorf("good for 10 s: asked again after %v", a.next.Sub(now))
	}
	r.status.Store(mute)
	if err := a.refresh(t.Context(), now); err == nil || a.staple == nil || !a.next.Equal(a.validity) {
		t.Errorf("without an answer: %v, asked again after %v", err, a.next.Sub(now))
	}
	if err := a.refresh(t.Context(), a.validity); err == nil || a.staple != nil {
		t.Errorf("without an answer until its end: %v, %d bytes are stapled", err, len(a.staple))
	}
}

// A reload while the responder is out of reach keeps what is shown of the same certificate, and is refused for another.
func TestStaplesOutlastReloads(t *testing.T) {
	r := newResponder(t)
	s := r.settings(OCSPAuto, true)
	read := func(s Settings) *Config {
		t.Helper()
		c, err := Server(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := read(s)
	if err := first.Staple(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := NewLive(first)
	shown := staple(t, live.Clients())
	r.status.Store(mute)
	other := newResponder(t)
	other.status.Store(mute)
	if err := live.Staple(t.Context(), read(other.settings(OCSPAuto, true))); err == nil {
		t.Error("another certificate is accepted without a staple")
	}
	same := read(s)
	if err := live.Staple(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	live.Replace(same)
	if got := staple(t, live.Clients()); len(got) == 0 || string(got) != string(shown) {
		t.Errorf("%d bytes are stapled", len(got))
	}
	r.status.Store(ocsp.Revoked)
	if err := live.Staple(t.Context(), read(s)); err != nil || len(staple(t, live.Clients())) == 0 {
		t.Errorf("a certificate that may be shown: %v", err)
	}
	s.OCSP.Mode = OCSPMust
	if err := live.Staple(t.Context(), read(s)); !errors.Is(err, ErrRevoked) {
		t.Errorf("a certificate that has been revoked meanwhile: %v", err)
	}
}

// What is wrong with a first staple that is shown all the same is told once the server runs.
func TestRevocationsAreTold(t *testing.T) {
	r := newResponder(t)
	r.status.Store(ocsp.Revoked)
	config, err := Server(r.settings(OCSPAuto, true))
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Staple(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := 0
	for range 2 {
		NewLive(config).renew(t.Context(), config, func(string) {}, func(err error, fatal bool) {
			if told++; fatal || !strings.Contains(err.Error(), "server.pem': revoked") {
				t.Errorf("told %v, fatal %v", err, fatal)
			}
		})
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
