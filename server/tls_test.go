package server

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/revocation"
	"github.com/natsd/natsd/tlsconf"
)

func TestTLSBlockIsTaken(t *testing.T) {
	var s tlsSettings
	var o engine.TLSOptions
	s.take(&config.TLS{
		Certs: []config.CertPair{{CertFile: "c", KeyFile: "k"}}, CAFile: "a", Verify: true, AllowNonTLS: true,
		HandshakeFirst: config.FirstAuto, FirstFallback: time.Second, Timeout: time.Minute, ConnectionRate: 7,
		MinVersion: "1.3", AllowInsecure: true, PinnedCerts: []string{"p"},
	}, &o)
	want := tlsconf.Settings{
		Certs: []tlsconf.Pair{{CertFile: "c", KeyFile: "k"}}, CAFile: "a", Verify: true,
		MinVersion: "1.3", AllowInsecureCipherSuites: true, PinnedCerts: []string{"p"},
	}
	if !s.on || !reflect.DeepEqual(s.settings, want) {
		t.Errorf("settings %+v", s)
	}
	if !reflect.DeepEqual(o, engine.TLSOptions{AllowPlain: true, First: true, FirstWait: time.Second, Timeout: time.Minute, ConnectionRate: 7}) {
		t.Errorf("options %+v", o)
	}
}

func TestTLSFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--tls --tlscert a":                     "missing 'key_file'",
		"--tlscert a --tlskey b":                "TLS is not on",
		"--tlsverify --tlscert a --tlskey nope": "error parsing X509 certificate/key pair: open a:",
	} {
		if _, err := parseFlags(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// Spans that are nobody's choice are nats-server's defaults; zero is a choice, but of the timeout.
func TestOCSPBlocksAreTaken(t *testing.T) {
	for _, c := range []struct {
		block config.OCSPPeer
		want  *revocation.Policy
	}{
		{config.OCSPPeer{WarnOnly: true}, nil},
		{config.OCSPPeer{Verify: true, CATimeout: -1, ClockSkew: -1, TTLUnset: -1},
			&revocation.Policy{Timeout: 2 * time.Second, Skew: 30 * time.Second, TTL: time.Hour}},
		{config.OCSPPeer{Verify: true}, &revocation.Policy{Timeout: 2 * time.Second}},
		{config.OCSPPeer{Verify: true, CATimeout: 1, ClockSkew: 2, TTLUnset: 3, WarnOnly: true, UnknownIsGood: true, AllowUnreachable: true},
			&revocation.Policy{Timeout: 1, Skew: 2, TTL: 3, WarnOnly: true, UnknownIsGood: true, AllowUnreachable: true}},
	} {
		var s tlsSettings
		s.take(&config.TLS{OCSPPeer: &c.block}, &engine.TLSOptions{})
		if !reflect.DeepEqual(s.settings.Peers, c.want) {
			t.Errorf("%+v: %+v", c.block, s.settings.Peers)
		}
	}
	var s tlsSettings
	s.takeOCSPCache(&config.OCSPCache{Type: "local", LocalStore: "d", PreserveRevoked: true, SaveInterval: time.Minute})
	if want := (revocation.CacheOptions{Dir: "d", PreserveRevoked: true, SaveEvery: time.Minute}); s.noPeerCache || s.peerCache != want {
		t.Errorf("cache %+v", s)
	}
	if s.takeOCSPCache(&config.OCSPCache{Type: "none"}); !s.noPeerCache {
		t.Error("there is a cache")
	}
}
