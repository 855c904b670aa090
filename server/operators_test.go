package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// A file of a JWT that is not there is told beside what else is wrong.
func TestMissingJWTsAreToldWithTheRest(t *testing.T) {
	_, err := fromFile(t, "operator: "+filepath.Join(t.TempDir(), "gone")+"\nx: 1")
	for _, want := range []string{":1:11: operator: neither a JWT nor a file with one", `:2:1: unknown key "x"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// signer is an operator's key, and its JWT.
type signer struct {
	t    *testing.T
	key  nkeys.KeyPair
	text string
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	s := &signer{t: t}
	var public string
	s.key, public = s.create(nkeys.CreateOperator)
	s.text = s.encode(jwt.NewOperatorClaims(public), s.key)
	return s
}

func (s *signer) create(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	s.t.Helper()
	key, err := create()
	if err != nil {
		s.t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		s.t.Fatal(err)
	}
	return key, public
}

func (s *signer) encode(c jwt.Claims, by nkeys.KeyPair) string {
	s.t.Helper()
	text, err := c.Encode(by)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// account makes an account and a user of it, and their JWTs; the user's is enough to be the user.
func (s *signer) account() (account, accountJWT, userJWT string) {
	s.t.Helper()
	key, account := s.create(nkeys.CreateAccount)
	_, public := s.create(nkeys.CreateUser)
	user := jwt.NewUserClaims(public)
	user.BearerToken = true
	return account, s.encode(jwt.NewAccountClaims(account), s.key), s.encode(user, key)
}

// certifiedPages is a server that has the JWTs of all accounts that are made, under /b/, and whose certificate nobody trusts.
type certifiedPages struct {
	*signer
	*httptest.Server
	texts sync.Map // by path
}

func newCertifiedPages(t *testing.T) *certifiedPages {
	t.Helper()
	p := &certifiedPages{signer: newSigner(t)}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, there := p.texts.Load(r.URL.Path); there {
			_, _ = io.WriteString(w, text.(string))
			return
		}
		http.NotFound(w, r)
	}))
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of who does not trust it
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// at is a configuration with a resolver that asks for pages below a path.
func (p *certifiedPages) at(dir string) string {
	return p.operator() + "resolver: URL(" + p.URL + path.Clean("/"+dir) + "/)\n"
}

func (p *certifiedPages) operator() string { return "operator: " + p.text + "\n" }

// lets connects as the user of an account that the server was not asked about yet, and checks the answer.
func (p *certifiedPages) lets(r *reloads, want string) {
	p.t.Helper()
	account, accountJWT, userJWT := p.account()
	p.texts.Store("/b/"+account, accountJWT)
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.host.Port()))
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil {
		p.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "CONNECT {\"verbose\":false,\"jwt\":%q}\r\nPING\r\n", userJWT); err != nil {
		p.t.Fatal(err)
	}
	if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, want) {
		p.t.Errorf("got %q %v, want %q", got, err, want)
	}
	r.log.take()
}

const (
	insecure = "resolver_tls: {insecure: true}\n"
	refused  = "Authorization Violation"
)

// A reload changes where and how account JWTs are fetched, and says what it can't change.
func TestResolverReload(t *testing.T) {
	p := newCertifiedPages(t)
	r := startReloads(t, p.at("a"), nil)
	p.lets(r, refused)
	r.expect(p.at("b"), "Reloaded: resolver")
	p.lets(r, refused) // the certificate is none that is trusted
	if log, took := r.to(p.at("b") + "resolver_tls: {ca_file: /nope/ca.pem}\n"); took || !strings.Contains(log, "/nope/ca.pem") {
		t.Errorf("taken over: %v\n%s", took, log)
	}
	p.lets(r, refused)
	r.expect(p.at("b")+insecure, "Reloaded: resolver_tls")
	p.lets(r, "PONG")
	r.expect(p.at("b"), "Reloaded: resolver_tls")
	p.lets(r, refused)
	r.expect(p.at("a")+insecure, "Reloaded: resolver", "Reloaded: resolver_tls")
	p.lets(r, refused)
}

// A reload that needs a restart is refused whole: what else its file has does not count, nor its other settings of TLS.
func TestResolverKeepsItsTLS(t *testing.T) {
	p := newCertifiedPages(t)
	r := startReloads(t, p.at("b")+insecure, nil)
	p.lets(r, "PONG")
	full := p.operator() + "resolver: {type: full, dir: " + strconv.Quote(filepath.Join(t.TempDir(), "jwt")) + "}\n"
	other := strings.Replace(p.at("b"), p.operator(), "operator: "+newSigner(t).text+"\n", 1)
	pid := filepath.Join(t.TempDir(), "pid")
	for text, names := range map[string]string{
		full: "resolver", full + "resolver_tls: {insecure: false}\n": "resolver", "": "operator", "resolver_tls: {insecure: false}\n": "operator",
		other: "operator", "http: -1\nserver_name: x\n": "server_name, operator, http", "authorization {user: u, password: p}\n": "operator",
	} {
		want := "config reload not supported for " + names + ": this needs a restart, and nothing has changed"
		if log, took := r.to(text + "debug: true\npid_file: " + strconv.Quote(pid) + "\n"); took || !strings.HasSuffix(log, want) {
			t.Errorf("%q: taken over: %v\n%s", text, took, log)
		}
		p.lets(r, "PONG")
	}
	if _, err := os.Stat(pid); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file is where the refused reload has it: ", err)
	}
	r.expect(p.at("b")+insecure+"debug: true\n", "Reloaded: debug = true")
}
