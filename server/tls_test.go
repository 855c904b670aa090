package server

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
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
	if o != (engine.TLSOptions{AllowPlain: true, First: true, FirstWait: time.Second, Timeout: time.Minute, ConnectionRate: 7}) {
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
