package claims

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
)

// pair is a key pair that is the same in every run.
func pair(t *testing.T, kind nkeys.PrefixByte, n byte) nkeys.KeyPair {
	t.Helper()
	seed, err := nkeys.EncodeSeed(kind, slices.Repeat([]byte{n}, 32))
	if err != nil {
		t.Fatal(err)
	}
	k, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t *testing.T, c jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDecodeAccount(t *testing.T) {
	op, key, signer, other := pair(t, nkeys.PrefixByteOperator, 1), pair(t, nkeys.PrefixByteAccount, 2), pair(t, nkeys.PrefixByteAccount, 3), pair(t, nkeys.PrefixByteAccount, 4)
	c := jwt.NewAccountClaims(public(t, key))
	c.Name, c.Expires = "Acme", 5_000_000_000
	c.Limits.Conn, c.Limits.Payload = 7, 0
	scope := jwt.NewUserScope()
	scope.Key = public(t, signer)
	scope.Template.Pub.Allow.Add("a.{{name()}}")
	scope.Template.Src.Add("10.0.0.0/8")
	c.SigningKeys.AddScopedSigner(scope)
	c.Exports.Add(&jwt.Export{Subject: "s.*", Type: jwt.Service, ResponseType: jwt.ResponseTypeChunked, TokenReq: true})
	c.Imports.Add(&jwt.Import{Account: public(t, other), Subject: "there", LocalSubject: "here", Type: jwt.Service},
		&jwt.Import{Account: public(t, other), Subject: "in.*", LocalSubject: "out.$1", Type: jwt.Stream})
	c.Revocations = jwt.RevocationList{"*": 100, public(t, pair(t, nkeys.PrefixByteUser, 9)): 200}
	a, err := DecodeAccount(encode(t, c, op))
	if err != nil {
		t.Fatal(err)
	}
	if a.Rules.Name != public(t, key) || a.Label != "Acme" || a.Issuer != public(t, op) || a.Expires != 5_000_000_000 {
		t.Errorf("%+v", a)
	}
	if l := a.Rules.Limits; l.MaxConnections.N != 7 || l.MaxPayload != (config.Limit{Set: true}) || l.MaxSubscriptions.N != -1 {
		t.Errorf("limits %+v", l)
	}
	if p, ok := a.Signs(public(t, signer)); !ok || p == nil || !p.From("10.1.1.1") || p.From("11.1.1.1") || p.From("::ffff:11.1.1.1") {
		t.Errorf("scope %+v", p)
	}
	if x := a.Rules.Exports[0]; x.Public || x.ResponseType != config.Chunked || x.Kind != config.Service {
		t.Errorf("export %+v", x)
	}
	if x := a.Rules.Imports; x[1].Subject != "there" || x[1].To != "here" || x[0].To != "out.$1" {
		t.Errorf("imports %+v", x)
	}
	if u := public(t, pair(t, nkeys.PrefixByteUser, 9)); !a.Revokes(u, 200) || a.Revokes(u, 201) || !a.Revokes("U", 100) || a.Revokes("U", 101) {
		t.Error("revocations")
	}
}

func TestBound(t *testing.T) {
	for _, x := range [][2]int64{{-1, -1}, {0, 0}, {7, 7}, {-2, 0}, {-5, 0}} {
		if l := bound(x[0]); !l.Set || l.N != x[1] {
			t.Errorf("%d: %+v", x[0], l)
		}
	}
}

func TestRefused(t *testing.T) {
	op, key, user := pair(t, nkeys.PrefixByteOperator, 1), pair(t, nkeys.PrefixByteAccount, 2), pair(t, nkeys.PrefixByteUser, 3)
	c := jwt.NewAccountClaims(public(t, key))
	text := encode(t, c, op)
	for _, bad := range []string{"", "a.b", text[:len(text)-4] + "AAAA", encode(t, jwt.NewUserClaims(public(t, user)), key)} {
		if _, err := DecodeAccount(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	c.Limits.Exports = 0
	c.Exports.Add(&jwt.Export{Subject: "x", Type: jwt.Stream})
	if _, err := DecodeAccount(encode(t, c, op)); err == nil || !strings.Contains(err.Error(), "more exports") {
		t.Error(err)
	}
	u := jwt.NewUserClaims(public(t, user))
	u.Src.Add("nonsense")
	if _, err := DecodeUser(encode(t, u, key)); err == nil {
		t.Error("a source that is none")
	}
}

func TestFill(t *testing.T) {
	u := &User{Label: "bob", Key: "UK", Tags: []string{"team:blue", "team:red"}}
	a := &Account{Label: "Acme", Tags: []string{"env:prod"}, Rules: config.Account{Name: "AK"}}
	list := func(s ...string) *permission.Spec { return &permission.Spec{Publish: permission.Lists{Allow: s}} }
	for _, c := range []struct{ in, want string }{
		{"x.{{name()}}.>", "x.bob.>"},
		{"{{ subject() }}.{{account-name()}}.{{account-subject()}}", "UK.Acme.AK"},
		{"{{tag(team)}}.{{account-tag(env)}}", "blue.prod red.prod"},
		{"a{{name()}}b q{{tag(team)}}", "abobb qblue abobb qred"},
	} {
		s, err := Fill(list(c.in), u, a)
		if err != nil || strings.Join(s.Publish.Allow, " ") != c.want {
			t.Errorf("%s: %q %v", c.in, s.Publish.Allow, err)
		}
	}
	s, err := Fill(list("{{tag(none)}}"), u, a)
	if err != nil || len(s.Publish.Allow) != 0 || !slices.Equal(s.Publish.Deny, []string{">"}) {
		t.Errorf("nothing left: %+v %v", s, err)
	}
	if _, err := Fill(&permission.Spec{Subscribe: permission.Lists{Deny: []string{"{{tag(none)}}"}}}, u, a); err == nil {
		t.Error("a denied subject was lost")
	}
	for _, in := range []string{"{{foo()}}", "{{name(x)}}", "{{tag()}}", "{{name()", "{{name}}"} {
		if _, err := Fill(list(in), u, a); !errors.Is(err, ErrTemplate) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, name := range []string{"*", ">", "a b", "a.*"} {
		if s, err := Fill(list("x.{{name()}}"), &User{Label: name}, a); err != nil || len(s.Publish.Allow) > 0 || len(s.Publish.Deny) != 1 {
			t.Errorf("the name %q widens what is allowed: %+v %v", name, s, err)
		}
	}
}

func TestWithin(t *testing.T) {
	at := func(text string) time.Time {
		x, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	day, night := Window{8 * 3600, 17 * 3600}, Window{22 * 3600, 6 * 3600}
	for _, c := range []struct {
		w    []Window
		now  string
		ends string // empty: outside
	}{
		{[]Window{day}, "2026-03-01 08:00:00", "2026-03-01 17:00:00"},
		{[]Window{day}, "2026-03-01 17:00:00", ""},
		{[]Window{day}, "2026-03-01 07:59:59", ""},
		{[]Window{night}, "2026-03-01 23:00:00", "2026-03-02 06:00:00"},
		{[]Window{night}, "2026-03-01 05:59:59", "2026-03-01 06:00:00"},
		{[]Window{night, day}, "2026-03-01 12:00:00", "2026-03-01 17:00:00"},
		{[]Window{night, day}, "2026-03-01 07:00:00", ""},
	} {
		ends, in := Within(c.w, at(c.now))
		if in != (c.ends != "") || in && !ends.Equal(at(c.ends)) {
			t.Errorf("%v at %s: %v %v", c.w, c.now, ends, in)
		}
	}
	if _, in := Within(nil, at("2026-03-01 12:00:00")); !in {
		t.Error("no windows are always")
	}
}

// A request is a JWT that the library accepts, and made the same way each time.
func TestRequest(t *testing.T) {
	server, account, user := pair(t, nkeys.PrefixByteServer, 1), pair(t, nkeys.PrefixByteAccount, 2), pair(t, nkeys.PrefixByteUser, 3)
	r := &Request{Issued: 1000, Expires: 1002, Subject: public(t, account)}
	r.UserNkey, r.ConnectOptions.Username = public(t, user), "joe"
	text, err := EncodeRequest(r, server)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeRequest(r, server)
	if err != nil || again != text {
		t.Error("not the same", err)
	}
	c, err := jwt.DecodeAuthorizationRequestClaims(text)
	if err != nil || c.Issuer != public(t, server) || c.Subject != public(t, account) || c.ConnectOptions.Username != "joe" ||
		c.Expires != 1002 || c.Audience != RequestAudience || len(c.ID) != 52 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestResponse(t *testing.T) {
	server, account, user := pair(t, nkeys.PrefixByteServer, 1), pair(t, nkeys.PrefixByteAccount, 2), pair(t, nkeys.PrefixByteUser, 3)
	c := jwt.NewAuthorizationResponseClaims(public(t, user))
	c.Audience, c.Error = public(t, server), "no"
	if r, err := DecodeResponse(encode(t, c, account)); err != nil || r.Error != "no" || r.Subject != public(t, user) || r.Audience != public(t, server) {
		t.Errorf("%+v %v", r, err)
	}
	c.Audience = ""
	if _, err := DecodeResponse(encode(t, c, account)); err == nil {
		t.Error("no audience")
	}
	c.Audience, c.Jwt = public(t, server), "x"
	if _, err := DecodeResponse(encode(t, c, account)); err == nil {
		t.Error("a user and an error")
	}
}

func TestActivates(t *testing.T) {
	key, signer, importer := pair(t, nkeys.PrefixByteAccount, 2), pair(t, nkeys.PrefixByteAccount, 3), pair(t, nkeys.PrefixByteAccount, 4)
	a := &Account{
		Rules:         config.Account{Name: public(t, key), Exports: []config.Export{{Kind: config.Stream, Subject: "x"}}},
		Signers:       map[string]*Powers{public(t, signer): nil},
		ExportRevoked: []map[string]int64{{public(t, importer): 50}},
	}
	token := Activation{Span: Span{IssuedAt: 60, Expires: 100}, Issuer: public(t, signer), Account: public(t, key), Subject: "x", Kind: config.Stream}
	for _, c := range []struct {
		name string
		edit func(*Activation)
		now  int64
		want bool
	}{
		{"good", func(*Activation) {}, 99, true},
		{"expired", func(*Activation) {}, 100, false},
		{"revoked", func(k *Activation) { k.IssuedAt = 50 }, 70, false},
		{"another signer", func(k *Activation) { k.Issuer = public(t, importer) }, 70, false},
		{"another kind", func(k *Activation) { k.Kind = config.Service }, 70, false},
		{"for another", func(k *Activation) { k.Account = public(t, importer) }, 70, false},
	} {
		k := token
		c.edit(&k)
		if got := a.Activates(0, public(t, importer), &k, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if a.Activates(0, public(t, importer), nil, 70) {
		t.Error("no token")
	}
}

func TestPayload(t *testing.T) {
	key := pair(t, nkeys.PrefixByteOperator, 1)
	text, err := jwt.NewOperatorClaims(public(t, key)).Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(Payload(text)); !strings.Contains(got, `"type":"operator"`) || !strings.HasPrefix(got, "{") {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", "a.b", "a.!.c", "a.AAAA.c"} {
		if got := string(Payload(text)); got != "null" {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

// What counts until before 1970 has never counted; 0 is no end.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		span Span
		now  int64
		want bool
	}{
		{Span{}, 100, true},
		{Span{Expires: 101}, 100, true},
		{Span{Expires: 100}, 100, false},
		{Span{Expires: -5}, 100, false},
		{Span{Expires: math.MinInt64}, 100, false},
		{Span{Expires: math.MaxInt64}, 100, true},
		{Span{NotBefore: 100}, 100, true},
		{Span{NotBefore: 101}, 100, false},
		{Span{NotBefore: -5}, 100, true},
	} {
		if got := c.span.Current(c.now); got != c.want {
			t.Errorf("%+v at %d: %v", c.span, c.now, got)
		}
	}
}
