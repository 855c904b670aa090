package server

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// signed makes keys of an operator, an account and a user, and their JWTs; the user's is enough to be the user.
func signed(t *testing.T) (operator, account, accountJWT, userJWT string) {
	t.Helper()
	var keys [3]nkeys.KeyPair
	var public [3]string
	for i, create := range []func() (nkeys.KeyPair, error){nkeys.CreateOperator, nkeys.CreateAccount, nkeys.CreateUser} {
		var err error
		if keys[i], err = create(); err != nil {
			t.Fatal(err)
		}
		if public[i], err = keys[i].PublicKey(); err != nil {
			t.Fatal(err)
		}
	}
	encode := func(c jwt.Claims, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	user := jwt.NewUserClaims(public[2])
	user.BearerToken = true
	return encode(jwt.NewOperatorClaims(public[0]), keys[0]), public[1],
		encode(jwt.NewAccountClaims(public[1]), keys[0]), encode(user, keys[1])
}

// A file of a JWT that is not there is told beside what else is wrong.
func TestMissingJWTsAreToldWithTheRest(t *testing.T) {
	_, err := fromFile(t, "operator: "+filepath.Join(t.TempDir(), "gone")+"\nx: 1")
	for _, want := range []string{":1:11: operator: neither a JWT nor a file with one", `:2:1: unknown key "x"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A reload changes where and how account JWTs are fetched, and says what it can't change.
func TestResolverReload(t *testing.T) {
	operator, account, accountJWT, userJWT := signed(t)
	pages := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b/"+account {
			_, _ = io.WriteString(w, accountJWT)
			return
		}
		http.NotFound(w, r)
	}))
	defer pages.Close()
	pages.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of who does not trust it
	pages.StartTLS()
	at := func(p string) string {
		return "operator: " + operator + "\nresolver: URL(" + pages.URL + path.Clean("/"+p) + "/)\n"
	}
	r := startReloads(t, at("a"), nil)
	lets := func(want string) {
		t.Helper()
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.host.Port()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		in := bufio.NewReader(c)
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "CONNECT {\"verbose\":false,\"jwt\":%q}\r\nPING\r\n", userJWT); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			t.Errorf("got %q %v, want %q", got, err, want)
		}
		r.log.take()
	}
	const refused = "Authorization Violation"
	lets(refused)
	r.expect(at("b"), "Reloaded: resolver")
	lets(refused) // the certificate is none that is trusted
	const insecure = "resolver_tls: {insecure: true}\n"
	if log, took := r.to(at("b") + "resolver_tls: {ca_file: /nope/ca.pem}\n"); took || !strings.Contains(log, "/nope/ca.pem") {
		t.Errorf("taken over: %v\n%s", took, log)
	}
	lets(refused)
	r.expect(at("b")+insecure, "Reloaded: resolver_tls")
	lets("PONG")
	full := "operator: " + operator + "\nresolver: {type: full, dir: " + strconv.Quote(filepath.Join(t.TempDir(), "jwt")) + "}\n" + insecure
	for range 2 {
		r.expect(full, "Not changed without a restart: resolver")
	}
	lets("PONG")
	r.expect(at("b") + insecure)
	r.expect(insecure, "Not changed without a restart: operator")
	lets("PONG")
}
