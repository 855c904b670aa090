package server

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// signatory signs JWTs.
type signatory struct {
	t                *testing.T
	key              nkeys.KeyPair
	public, a, other string // the public keys of the operator and of two accounts
}

func newSignatory(t *testing.T) *signatory {
	t.Helper()
	y := &signatory{t: t}
	for i, to := range []*string{&y.public, &y.a, &y.other} {
		k, err := []func() (nkeys.KeyPair, error){nkeys.CreateOperator, nkeys.CreateAccount, nkeys.CreateAccount}[i]()
		if err != nil {
			t.Fatal(err)
		}
		if *to, err = k.PublicKey(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			y.key = k
		}
	}
	return y
}

func (y *signatory) sign(c jwt.Claims) string {
	y.t.Helper()
	text, err := c.Encode(y.key)
	if err != nil {
		y.t.Fatal(err)
	}
	return text
}

// operator is the operator's JWT.
func (y *signatory) operator(system, version string) string {
	c := jwt.NewOperatorClaims(y.public)
	c.SystemAccount, c.AssertServerVersion = system, version
	return y.sign(c)
}

// account is a line of resolver_preload.
func (y *signatory) account(key string, expires int64) string {
	c := jwt.NewAccountClaims(key)
	c.Expires = expires
	return key + ": " + y.sign(c) + "\n"
}

// What would have a server of operators serve otherwise than they say is refused before it starts, and by -t.
func TestOperatorsAreHeldAgainstTheFile(t *testing.T) {
	y, stranger := newSignatory(t), newSignatory(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	preload := func(all ...string) string { return "resolver_preload {\n" + strings.Join(all, "") + "}\n" }
	memory := func(operator, rest string) string {
		return "operator: " + operator + "\nresolver: MEMORY\n" + rest
	}
	system := "system_account: " + y.a + "\n"
	dir := func(name string) string {
		return "operator: " + y.operator(y.a, "") + "\nresolver {type: full, dir: " + strconv.Quote(name) + "}\n"
	}
	past := time.Now().Unix() - 10
	for _, c := range []struct{ text, want, warns string }{
		{memory(y.operator(y.a, "2.15.2"), system+preload(y.account(y.a, 0))), "", ""},
		{memory(y.operator(y.a, "1.99.99"), preload(y.account(y.a, 0))), "", ""},
		{memory(y.operator("", ""), ""), "", ""},
		{memory(y.operator(y.a, "99.0.0"), preload(y.account(y.a, 0))), ":1:11: operator " + y.public + " expected major version 99 > server major version 2", ""},
		{memory(y.operator(y.a, "2.16.0"), preload(y.account(y.a, 0))), ":1:11: operator " + y.public + " expected minor version 16 > server minor version 15", ""},
		{memory(y.operator(y.a, "2.15.9"), preload(y.account(y.a, 0))), ":1:11: operator " + y.public + " expected update version 9 > server update version 2", ""},
		{memory(y.operator(y.other, ""), system+preload(y.account(y.a, 0), y.account(y.other, 0))), ":3:17: system_account in config and operator JWT must be identical", ""},
		{memory("["+y.operator(y.a, "")+", "+stranger.operator(y.other, "")+"]", system+preload(y.account(y.a, 0))), "", ""},
		{memory(y.operator(y.a, ""), preload(y.account(y.other, 0))), ":1:11: error resolving system account: account missing", ""},
		{memory(y.operator("", ""), system), ":3:17: error resolving system account: account missing", ""},
		{memory(y.operator("", ""), system+preload(stranger.account(y.a, 0))), ":3:17: error resolving system account: issuer " + stranger.public + " is not trusted", ""},
		{memory(y.operator("", ""), system+preload(strings.ReplaceAll(y.account(y.other, 0), y.other+":", y.a+":"))),
			":3:17: error resolving system account: subject does not match jwt content", ""},
		{memory(y.operator(y.a, ""), preload(y.account(y.a, 0))+"trusted_keys: "+y.public+"\n"), ":6:15: conflicting options for 'TrustedKeys' and 'TrustedOperators'", ""},
		{memory(y.operator("", ""), preload(y.account(y.a, past))), "", ":4:1: resolver_preload: account " + y.a + " has validation issues: claim is expired"},
		{dir(filepath.Join(filepath.Dir(file), "not there", "yet")), "", ""},
		{dir(filepath.Dir(file)), "", ""},
		{dir(file), ":2:10: dir needs to point to an accessible directory", ""},
		{dir(filepath.Join(file, "below")), ":2:10: dir needs to point to an accessible directory", ""},
	} {
		name := written(t, c.text)
		s, err := parseFlags([]string{"-t", "-c", name})
		switch {
		case c.want != "":
			if got := complaints(t, err, name); !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		case err != nil:
			t.Error(err)
		case strings.ReplaceAll(strings.Join(s.warnings, "\n"), name, "") != c.warns:
			t.Errorf("got %q, want %q", s.warnings, c.warns)
		}
	}
}
