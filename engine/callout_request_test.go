package engine

import (
	"encoding/pem"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
)

// The service learns of a client by the name that it gives itself, and of a token only where it is asked for.
func TestCalloutNamesTheClient(t *testing.T) {
	w := newCalloutWorld(t, false, nil)
	key := publicOf(testUser(9))
	for _, c := range []struct{ connect, want string }{
		{`{"user":"u","pass":"p"}`, "u"},
		{`{"user":"u","auth_token":"t"}`, "u"},
		{`{"auth_token":"t"}`, "[REDACTED]"},
		{`{"nkey":"` + key + `","auth_token":"t"}`, key},
		{`{"nkey":"` + key + `","user":"somebody"}`, key},
		{`{"pass":"p"}`, ""},
	} {
		say(w.e, accept(w.e), "CONNECT "+c.connect+"\r\n")
		w.run()
		if q := w.question(); q.ClientInformation.User != c.want {
			t.Errorf("%s: asked about %+v", c.connect, q.ClientInformation)
		}
	}
}

// It learns the chains that verify a client's certificate, else what the client has sent.
func TestCalloutShowsCertificates(t *testing.T) {
	raw := func(names ...string) (ders [][]byte) {
		for _, n := range names {
			ders = append(ders, []byte(n))
		}
		return ders
	}
	peer := []TLSCert{{Raw: []byte("own")}, {Raw: []byte("above")}}
	for _, c := range []struct {
		info          TLSInfo
		chains, certs string
	}{
		{TLSInfo{}, "", ""},
		{TLSInfo{Peer: peer}, "", "own above"},
		{TLSInfo{Peer: peer, Verified: true, Chains: [][][]byte{raw("own", "root"), raw("own", "above", "top")}}, "own root, own above top", ""},
	} {
		w := newCalloutWorld(t, false, nil)
		id := accept(w.e)
		c.info.Version, c.info.CipherSuite = "1.3", "S"
		w.e.lookup(id).tlsInfo = &c.info
		say(w.e, id, "CONNECT {\"user\":\"u\"}\r\n")
		w.run()
		tls := w.question().TLS
		var chains []string
		for _, chain := range tls.VerifiedChains {
			chains = append(chains, opened(t, chain))
		}
		if got := strings.Join(chains, ", "); got != c.chains || opened(t, tls.Certs) != c.certs || tls.Version != "1.3" || tls.Cipher != "S" {
			t.Errorf("told %+v", tls)
		}
	}
	w := newCalloutWorld(t, false, nil)
	say(w.e, accept(w.e), "CONNECT {\"user\":\"u\"}\r\n")
	w.run()
	if q := w.question(); q.TLS != nil {
		t.Errorf("without TLS: %+v", q.TLS)
	}
}

// opened is what PEM blocks hold.
func opened(t *testing.T, texts jwt.StringList) string {
	t.Helper()
	var all []string
	for _, text := range texts {
		b, rest := pem.Decode([]byte(text))
		if b == nil || len(rest) > 0 || b.Type != "CERTIFICATE" {
			t.Fatalf("%q is no certificate", text)
		}
		all = append(all, string(b.Bytes))
	}
	return strings.Join(all, " ")
}
