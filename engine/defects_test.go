package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
)

// An update that says what could never be in force is refused, and changes nothing.
func TestImpossibleUpdate(t *testing.T) {
	a, b := testAccount(2), testAccount(3)
	w := newOperatorWorld(t, config.FullResolver, nil)
	w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, nil))
	before := w.files[publicOf(a)]
	for _, c := range []struct {
		edit func(*jwt.AccountClaims)
		want string
	}{
		{func(c *jwt.AccountClaims) { c.Mappings = jwt.Mapping{"a.*": {{Subject: "b.$2"}}} },
			`mapping "a.*" -> "b.$2": invalid mapping destination: wildcard index out of range in $2: [2]`},
		{func(c *jwt.AccountClaims) {
			c.Exports.Add(&jwt.Export{Subject: "a..b", Type: jwt.Stream}, &jwt.Export{Subject: "c..d", Type: jwt.Stream})
		}, "validation errors: [subject \"a..b\" cannot contain consecutive `.` subject \"c..d\" cannot contain consecutive `.`]"},
		{func(c *jwt.AccountClaims) { c.DefaultPermissions.Pub.Allow.Add("a b c") }, `validation errors: [Permission Subject "a b c" contains too many spaces]`},
		{func(c *jwt.AccountClaims) {
			c.Exports.Add(&jwt.Export{Subject: "a.*.b", Type: jwt.Service, AccountTokenPosition: 1})
		}, `validation errors: [`},
		{func(c *jwt.AccountClaims) {
			c.Imports.Add(&jwt.Import{Account: publicOf(b), Subject: "t.*.*", LocalSubject: "x.$1.$1", Type: jwt.Stream})
		}, `import "t.*.*": `},
	} {
		var r struct{ Error claimsStatus }
		if err := json.Unmarshal([]byte(w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, c.edit))), &r); err != nil {
			t.Fatal(err)
		}
		if r.Error.Code != 500 || r.Error.Account != publicOf(a) || !strings.HasPrefix(r.Error.Description, "jwt validation failed - "+c.want) {
			t.Errorf("%s: %+v", c.want, r.Error)
		}
	}
	if w.files[publicOf(a)] != before {
		t.Error("it is stored")
	}
}

// What a JWT says that comes from elsewhere, and can't be in force, is left out, and the log says so.
func TestImpossibleMappingIsLogged(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.FullResolver, nil)
	w.files[publicOf(a)] = w.account(a, func(c *jwt.AccountClaims) {
		c.Mappings = jwt.Mapping{"a.*": {{Subject: "b.$2"}}, "c": {{Subject: "d"}}}
	})
	c := w.login(w.user(testUser(1), a, nil), testUser(1))
	w.wants(c, "PONG")
	if !w.logged(`Error adding mapping for "a.*"`) {
		t.Error("the log says nothing")
	}
	say(w.e, c, "SUB d 1\r\nPUB c 1\r\n1\r\n")
	w.wants(c, "MSG d 1 1")
}

// A cache says that it is one.
func TestUpdateOfACache(t *testing.T) {
	a := testAccount(2)
	w := newOperatorWorld(t, config.CacheResolver, nil)
	update := func(want string) {
		t.Helper()
		if got := w.system("$SYS.REQ.CLAIMS.UPDATE", w.account(a, nil)); !strings.Contains(got, `"message":"`+want+`"`) {
			t.Error(got)
		}
	}
	update("jwt update cache skipped")
	w.files[publicOf(a)] = w.account(a, nil)
	w.wants(w.login(w.user(testUser(1), a, nil), testUser(1)), "PONG")
	update("jwt updated cache")
}
