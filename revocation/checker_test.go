package revocation

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// The log lines are nats-server's.
func TestAnswers(t *testing.T) {
	w := newWorld(t)
	imposter := (&authority{t: t}).issue("inter", &x509.Certificate{IsCA: true, BasicConstraintsValid: true})
	for _, c := range []struct {
		name   string
		change func(*reply)
		good   bool
		lines  []string
	}{
		{"good", func(*reply) {}, true, []string{
			"[DBG] Peer OCSP enabled: 1 TLS client chain(s) will be evaluated", "[DBG] Chain [0]: 3 total link(s)",
			"[DBG] Chain [0] has 2 OCSP eligible link(s)", "[DBG] Checking OCSP peer cache for [CN=good], key [KEY]",
			"[DBG] Trying OCSP responder url [" + w.url + "]", "[DBG] OCSP verify pass for [CN=good]", "[DBG] OCSP verify pass for [CN=inter]",
			"[DBG] Chain [0] is OCSP valid for all eligible links, thus peer is valid"}},
		{"revoked", func(r *reply) { r.Status = ocsp.Revoked }, false, []string{
			"[WRN] OCSP verify fail for [CN=revoked] with CA status [revoked]", "[DBG] Invalid OCSP response status: revoked",
			"[INVALID] CN=revoked of CN=revoked: Invalid OCSP response status: revoked", "[DBG] No OCSP valid chains, thus peer is invalid",
			"[REJECTED] CN=revoked: client not OCSP valid"}},
		{"unknown", func(r *reply) { r.Status = ocsp.Unknown }, false, []string{
			"[WRN] OCSP verify fail for [CN=unknown] with CA status [unknown]", "Invalid OCSP response status: unknown"}},
		{"refusing", func(r *reply) { r.status = http.StatusInternalServerError }, false, []string{
			"[WRN] Attempt to obtain OCSP response from CA responder for [CN=refusing] failed: exhausted OCSP responders: bad OCSP responder http status: [500]",
			"[INVALID] CN=refusing of CN=refusing: Failed OCSP response fetch"}},
		{"endless", func(r *reply) { r.raw = make([]byte, answerMax+1) }, false, []string{"exhausted OCSP responders: the answer is too long"}},
		{"garbage", func(r *reply) { r.raw = []byte("garbage") }, false, []string{
			"[ERR] Could not parse OCSP CA response for [CN=garbage]: asn1:", "Failed OCSP response parse"}},
		{"busy", func(r *reply) { r.raw = ocsp.TryLaterErrorResponse }, false, []string{"ocsp: error from server: try later"}},
		{"about another", func(r *reply) { r.SerialNumber = w.root.cert.SerialNumber }, false, []string{"Failed OCSP response parse"}},
		{"wrong signer", func(r *reply) { r.signer = imposter }, false, []string{
			"[ERR] Could not parse OCSP CA response for [CN=wrong signer]: bad OCSP signature", "Failed OCSP response parse"}},
		{"stale", func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(2*time.Hour), ago(time.Hour) }, false, []string{
			"[DBG] OCSP response NextUpdate [", "[WRN] New OCSP CA response obtained for [CN=stale] but not current",
			"[INVALID] CN=stale of CN=stale: OCSP response not in effectivity window"}},
		{"just over", func(r *reply) { r.NextUpdate = ago(10 * time.Second) }, true, nil},
		{"just ahead", func(r *reply) { r.ThisUpdate = ago(-10 * time.Second) }, true, nil},
		{"early", func(r *reply) { r.ThisUpdate = ago(-time.Hour) }, false, []string{"[DBG] OCSP response ThisUpdate ["}},
		{"lasting new", func(r *reply) { r.NextUpdate = time.Time{} }, true, nil},
		{"lasting old", func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(2*time.Hour), time.Time{} }, false, []string{
			"[DBG] OCSP response cache expiry [", "but not current"}},
	} {
		chain := w.peer(c.name)
		w.answers(chain[0], c.change)
		w.expect(c.name, chain, c.good, c.lines...)
	}
}

func ago(d time.Duration) time.Time { return time.Now().Add(-d) }

// A root's certificate is signed by itself, and that of an authority below it by another: either may be sent along.
func TestAuthoritySendsItsOwnCertificate(t *testing.T) {
	w := newWorld(t)
	chain := w.peer("p")
	w.answers(chain[0], func(r *reply) { r.cert = w.inter })
	w.answers(w.inter.cert, func(r *reply) { r.cert = w.root })
	w.expect("both", chain, true, "OCSP verify pass for [CN=p]", "OCSP verify pass for [CN=inter]")
	imposter := (&authority{t: t}).issue("inter", &x509.Certificate{IsCA: true, BasicConstraintsValid: true})
	chain = w.peer("q")
	w.answers(chain[0], func(r *reply) { r.signer, r.cert = imposter, imposter })
	w.expect("an imposter's", chain, false, "Failed OCSP response parse")
	chain = w.peer("r")
	w.answers(chain[0], func(r *reply) { r.signer, r.cert = imposter, w.inter })
	w.expect("signed by an imposter", chain, false, "Failed OCSP response parse")
}

// An authority may have another sign its answers, if it has certified it for just that.
func TestDelegatedResponders(t *testing.T) {
	w := newWorld(t)
	signing := []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	outside := (&authority{t: t}).issue("outside", &x509.Certificate{IsCA: true, BasicConstraintsValid: true})
	for name, c := range map[string]struct {
		delegate *authority
		good     bool
		line     string
	}{
		"certified":     {w.inter.issue("d", &x509.Certificate{ExtKeyUsage: signing}), true, "verify pass"},
		"for something": {w.inter.issue("d", &x509.Certificate{}), false, "[WRN] Invalid OCSP response delegation: CN=for something"},
		"expired": {w.inter.issue("d", &x509.Certificate{ExtKeyUsage: signing, NotBefore: ago(2 * time.Hour), NotAfter: ago(time.Hour)}),
			false, "[INVALID] CN=expired of CN=expired: Invalid OCSP response delegation: CN=expired"},
		"another's": {outside.issue("d", &x509.Certificate{ExtKeyUsage: signing}), false, "Failed OCSP response parse"},
	} {
		chain := w.peer(name)
		w.answers(chain[0], func(r *reply) { r.signer, r.cert = c.delegate, c.delegate })
		w.expect(name, chain, c.good, c.line)
	}
}

func TestPolicies(t *testing.T) {
	w := newWorld(t)
	silent := func(r *reply) { r.status = http.StatusNotFound }
	revoked := func(r *reply) { r.Status = ocsp.Revoked }
	unknown := func(r *reply) { r.Status = ocsp.Unknown }
	garbage := func(r *reply) { r.raw = []byte("garbage") }
	for name, c := range map[string]struct {
		change func(*Policy)
		answer func(*reply)
		good   bool
		line   string
	}{
		"warn revoked": {func(p *Policy) { p.WarnOnly = true }, revoked, true,
			"[WRN] OCSP verify fail for [CN=warn revoked] but WarnOnly is true so allowing"},
		"warn silent":  {func(p *Policy) { p.WarnOnly = true }, silent, true, "but WarnOnly is true so allowing"},
		"warn garbage": {func(p *Policy) { p.WarnOnly = true }, garbage, true, "but WarnOnly is true so allowing"},
		"lax unknown":  {func(p *Policy) { p.UnknownIsGood = true }, unknown, true, "OCSP verify pass"},
		"lax revoked":  {func(p *Policy) { p.UnknownIsGood = true }, revoked, false, "CA status [revoked]"},
		"trusting silent": {func(p *Policy) { p.AllowUnreachable = true }, silent, true,
			"[WRN] Failed to obtain OCSP CA response for [CN=trusting silent] but AllowWhenCAUnreachable set; no cached revocation so allowing"},
		"trusting revoked": {func(p *Policy) { p.AllowUnreachable = true }, revoked, false, "CA status [revoked]"},
		"trusting unknown": {func(p *Policy) { p.AllowUnreachable = true }, unknown, false, "CA status [unknown]"},
		"trusting garbage": {func(p *Policy) { p.AllowUnreachable = true }, garbage, false, "Failed OCSP response parse"},
		"strict":           {func(p *Policy) { p.Skew = 0 }, func(r *reply) { r.NextUpdate = ago(10 * time.Second) }, false, "not current"},
		"lasting": {func(p *Policy) { p.TTL = 3 * time.Hour },
			func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(2*time.Hour), time.Time{} }, true, "verify pass"},
	} {
		before := w.policy
		c.change(&w.policy)
		chain := w.peer(name)
		w.answers(chain[0], c.answer)
		w.log.take()
		if err := w.check(chain); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if text := w.log.take(); !strings.Contains(text, c.line) {
			t.Errorf("%s: nothing like %q in\n%s", name, c.line, text)
		}
		w.policy = before
	}
}

// An authority that is revoked takes all with it that it has issued.
func TestRevokedAuthority(t *testing.T) {
	w := newWorld(t)
	chain := w.peer("innocent")
	w.answers(w.inter.cert, func(r *reply) { r.Status = ocsp.Revoked })
	w.expect("its authority is revoked", chain, false, "[DBG] OCSP verify pass for [CN=innocent]",
		"[WRN] OCSP verify fail for [CN=inter] with CA status [revoked]", "[INVALID] CN=inter of CN=innocent: ", "[REJECTED] CN=innocent: ")
}

func TestChains(t *testing.T) {
	w := newWorld(t)
	self := (&authority{t: t}).issue("self", &x509.Certificate{OCSPServer: []string{w.url}})
	w.expect("signed by itself", []*x509.Certificate{self.cert}, true, "[DBG] Chain [0] is self-signed, thus peer is valid")
	direct := w.root.issue("direct", &x509.Certificate{OCSPServer: []string{"ldap://x/", "http:///", ":"}})
	w.expect("without a responder on the web", []*x509.Certificate{direct.cert, w.root.cert}, true,
		"[DBG] Chain [0] has no OCSP eligible links, thus peer is valid")
	trusted := w.peer("trusted")
	w.answers(w.inter.cert, func(r *reply) { r.Status = ocsp.Revoked })
	w.expect("whose authority is trusted itself", trusted[:2], true, "has 1 OCSP eligible link(s)")
	if n := w.askedFor(w.inter.cert); n > 0 {
		t.Errorf("what is trusted was asked for %d times", n)
	}
	w.log.take()
	if err := w.check(trusted, trusted[:2]); err != nil {
		t.Errorf("with a good chain among two: %v", err)
	}
	if text := w.log.take(); !strings.Contains(text, "[INVALID]") || strings.Contains(text, "[REJECTED]") || !strings.Contains(text, "Chain [1] is OCSP valid") {
		t.Errorf("with a good chain among two:\n%s", text)
	}
	if err := w.check(); !errors.Is(err, ErrRejected) {
		t.Errorf("without a chain: %v", err)
	}
}

func TestRespondersAreAskedInOrder(t *testing.T) {
	w := newWorld(t)
	chain := w.peer("p", "http://127.0.0.1:1/", "ldap://x/", w.url+"/", "http://127.0.0.1:2/")
	w.expect("the second answers", chain, true, "Trying OCSP responder url [http://127.0.0.1:1/]", "Trying OCSP responder url ["+w.url+"/]")
	chain = w.peer("q", "http://127.0.0.1:1/", "http://127.0.0.1:2/")
	w.expect("nobody answers", chain, false, "exhausted OCSP responders: Get \"http://127.0.0.1:2/", "connection refused")
}

func TestSlowResponder(t *testing.T) {
	w := newWorld(t)
	w.unsure = make(chan struct{})
	defer close(w.unsure)
	w.policy.Timeout = time.Millisecond
	w.expect("no answer in time", w.peer("p"), false, "context deadline exceeded", "Failed OCSP response fetch")
}

// Who comes while a question is being asked waits for its answer; who goes away changes nothing for the others. All of it happens
// while the handshake is paused.
func TestOneQuestionForMany(t *testing.T) {
	w := newWorld(t)
	w.unsure = make(chan struct{})
	chain := w.peer("p")
	const many = 10
	paused := make(chan struct{}, 2*many)
	errs := make(chan error, many)
	during := func(ctx context.Context) context.Context {
		return During(t.Context(), func(wait func(context.Context)) {
			paused <- struct{}{}
			wait(ctx)
		})
	}
	check := func(ctx context.Context) error {
		return w.c.Check(during(ctx), &w.policy, [][]*x509.Certificate{chain})
	}
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- check(leaving) }()
	<-paused
	var wait sync.WaitGroup
	for range many {
		wait.Go(func() { errs <- check(t.Context()) })
	}
	for range many {
		<-paused
	}
	leave()
	if err := <-left; !errors.Is(err, errGone) {
		t.Errorf("who left got %v", err)
	}
	close(w.unsure)
	wait.Wait()
	for range many {
		ok(t, <-errs)
	}
	if n := w.askedFor(chain[0]); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if text := w.log.take(); strings.Contains(text, "[REJECTED]") {
		t.Errorf("told of somebody who left:\n%s", text)
	}
}

// The end of a Checker ends what is being asked.
func TestClose(t *testing.T) {
	w := newWorld(t)
	w.unsure = make(chan struct{})
	defer close(w.unsure)
	w.policy.AllowUnreachable = true // nobody is let in for that
	paused, done := make(chan struct{}), make(chan error)
	chain := w.peer("p")
	ctx := During(t.Context(), func(wait func(context.Context)) {
		close(paused)
		wait(t.Context())
	})
	go func() { done <- w.c.Check(ctx, &w.policy, [][]*x509.Certificate{chain}) }()
	<-paused
	w.c.Close()
	w.c.UseCache(&CacheOptions{Dir: t.TempDir()})
	later := w.check(w.peer("later"))
	for _, err := range []error{<-done, later} {
		if !errors.Is(err, errGone) {
			t.Errorf("it ended with %v", err)
		}
	}
	if text := w.log.take(); strings.Contains(text, "Attempt to obtain") || strings.Contains(text, "Starting OCSP peer cache") {
		t.Errorf("log:\n%s", text)
	}
}
