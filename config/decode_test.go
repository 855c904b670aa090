package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// cleared is a copy of v's pointer target without places, which other tests look at.
func cleared(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Pos]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				cleared(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			cleared(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cleared(v.Elem())
		}
	default:
	}
}

// What is named as a variable is no account, even where it could be one, as with the reference.
func TestVariablesAmongAccountsAreNone(t *testing.T) {
	for _, text := range []string{
		"PERMS { publish: a }\nA { users: [ {user: a, password: b, permissions: $PERMS} ] }",
		"USER { user: a, password: b }\nA { users: [ $USER ] }",
		"USERS [ {user: a, password: b} ]\nA { users: $USERS }",
		"T { users: [ {user: a, password: b} ] }\nA: $T",
	} {
		c, err := load("accounts {\n"+text+"\n}", true)
		if err != nil || len(c.Accounts) != 1 || c.Accounts[0].Name != "A" || len(c.Accounts[0].Users) != 1 {
			t.Errorf("%s: %+v, %v", text, c.Accounts, err)
		}
	}
	if _, err := load("accounts {\nPERMS { publish: a }\nA {}\n}", true); err == nil || !strings.Contains(err.Error(), `unknown key "publish" in account "PERMS"`) {
		t.Errorf("a variable that nobody uses: %v", err)
	}
}

func TestAccountsAreDecoded(t *testing.T) {
	c, err := load(`accounts {
		A {
			users: [ {user: a, password: b, clients: [mqtt], permissions: {pub: {deny: x}, sub: ["s q"], allow_responses: {max: 2, ttl: "1s"}}} ]
			exports: [
				{stream: "s.>"}
				{service: q, accounts: [B], response: chunked, threshold: "3s", latency: {sampling: "20%", subject: l}, account_token_position: 0}
			]
			imports: [ {service: {account: B, subject: r}, to: t, share: yes}, {stream: {account: B, subject: u}, prefix: p} ]
			mappings: { m: n, o: [ {dest: p, weight: 40%, cluster: c}, {destination: q, weight: 10} ] }
			limits: { max_conn: 3, max_payload: 1k }
			jetstream: { mem: 1kb, streams: -1 }
		}
		B {}
	}`, true)
	if err != nil {
		t.Fatal(err)
	}
	cleared(reflect.ValueOf(c))
	want := []Account{{
		Name: "A",
		Users: []User{{Name: "a", Password: "b", ConnectionTypes: []string{"MQTT"}, Permissions: &Permissions{
			Publish:   &SubjectPermission{Deny: []Subject{{Text: "x"}}},
			Subscribe: &SubjectPermission{Allow: []Subject{{Text: "s", Queue: "q"}}}, AllowResponses: &ResponsePermission{Max: 2, Expires: time.Second},
		}}},
		Exports: []Export{
			{Kind: Stream, Subject: "s.>", Public: true},
			{Kind: Service, Subject: "q", Accounts: []string{"B"}, ResponseType: Chunked, ResponseThreshold: 3 * time.Second,
				Latency: &Latency{Sampling: 20, Subject: "l"}},
		},
		Imports: []Import{
			{Kind: Service, Account: "B", Subject: "r", To: "t", Share: true}, {Kind: Stream, Account: "B", Subject: "u", Prefix: "p"},
		},
		Mappings: []Mapping{
			{Subject: "m", Destinations: []Destination{{Subject: "n", Weight: 100}}},
			{Subject: "o", Destinations: []Destination{{Subject: "p", Weight: 40, Cluster: "c"}, {Subject: "q", Weight: 10}}},
		},
		Limits:    Limits{MaxConnections: Limit{true, 3}, MaxPayload: Limit{true, 1000}},
		JetStream: &AccountJetStream{MaxMemory: Limit{true, 1024}, MaxStreams: Limit{true, -1}},
	}, {Name: "B"}}
	if !reflect.DeepEqual(c.Accounts, want) {
		t.Errorf("\n got %+v\nwant %+v", c.Accounts, want)
	}
}

func TestBlocksAreDecoded(t *testing.T) {
	c, err := load(`
		tls { ca_file: ca, verify: true, handshake_first: "300ms", timeout: 0.5, min_version: "1.3", certs: [{cert_file: c, key_file: k}] }
		allow_non_tls: true
		cluster { name: n, listen: "[::1]:5", routes: ["nats://r"], compression: {mode: s2_auto, rtts: ["1ms"]}, authorization { user: u, pass: p, timeout: 2 } }
		leafnodes { remotes: [ {url: "nats://l", local: A, deny_imports: x, jetstream_cluster_migrate: {leader_migrate_delay: "2s"}} ] }
		mqtt { port: 1883, ack_wait: "5s", max_inflight: 7 }
		jetstream { max_mem: "1G", sync: always, limits { batch { max_msgs: 4 } } }
		resolver { type: full, dir: d, allow_delete: true, interval: "1m" }
		no_auth_user: x
	`, true)
	if err != nil {
		t.Fatal(err)
	}
	if at, there := c.Where("cluster.authorization.password"); !there || at.Line != 4 {
		t.Errorf("the password of the cluster is at %v", at)
	}
	cleared(reflect.ValueOf(c))
	for _, x := range []struct{ got, want any }{
		{c.TLS, &TLS{CAFile: "ca", Verify: true, HandshakeFirst: FirstAuto, FirstFallback: 300 * time.Millisecond, Timeout: time.Second / 2,
			MinVersion: "1.3", Certs: []CertPair{{CertFile: "c", KeyFile: "k"}}, AllowNonTLS: true}},
		{c.Cluster, &Cluster{Name: "n", Host: "::1", Port: 5, Routes: []Located{{Text: "nats://r"}},
			Compression:   Compression{Mode: "s2_auto", Thresholds: []time.Duration{time.Millisecond}},
			Authorization: &Authorization{User: "u", Password: "p", Timeout: 2 * time.Second}}},
		{c.LeafNodes, &LeafNodes{Remotes: []RemoteLeaf{{URLs: []Located{{Text: "nats://l"}}, Account: "A",
			DenyImports: []Subject{{Text: "x"}}, Migrate: &Migrate{Delay: 2 * time.Second}}}}},
		{c.MQTT, &MQTT{Port: 1883, AckWait: 5 * time.Second, MaxAckPending: 7}},
		{c.JetStream, &JetStream{Enabled: true, MaxMemory: 1 << 30, SyncAlways: true, Limits: JetStreamLimits{BatchMaxMsgs: 4}}},
		{c.Operators.Resolver, Resolver{Kind: FullResolver, Dir: "d", AllowDelete: true, Interval: time.Minute}},
		{c.NoAuthUser.Text, "x"},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("\n got %+v\nwant %+v", x.got, x.want)
		}
	}
}

func TestBlocksThatDoNotFitAreRefused(t *testing.T) {
	for _, text := range []string{
		"tls { cert_file: x }", "tls { certs: [{cert_file: x, key_file: y}], cert_file: x, key_file: y }", "cluster { authorization { token: x } }",
		"gateway { authorization { users: [] } }", "resolver { dir: x }", "resolver { type: full, dir: x, ttl: \"1m\" }", "jetstream { cipher: x }",
		"mappings { a: {dest: b} }", "accounts { A { exports: [{stream: a, service: b}] } }", "accounts { A { exports: [{stream: a, response: stream}] } }",
		"accounts { A { imports: [{stream: {account: B}}] } }", "authorization { users: [{user: a, clients: [x]}] }",
		"authorization { default_permissions { publish: \"a b\" } }", "authorization { auth_callout { auth_users: [a] } }",
		"tls { pinned_certs: [x] }", "tls { cipher_suites: [] }", "tls { min_version: \"1.1\" }",
	} {
		if _, err := load(text, true); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// A switch may stand where a block with its details does.
func TestOCSPIsDecoded(t *testing.T) {
	for _, c := range []struct {
		text string
		want Config
	}{
		{`ocsp: true`, Config{OCSP: &OCSP{Mode: "auto"}}},
		{`ocsp: false`, Config{OCSP: &OCSP{Mode: "never"}}},
		{`ocsp {}`, Config{OCSP: &OCSP{Mode: "auto"}}},
		{`ocsp { mode: MUST, urls: [a, b] }`, Config{OCSP: &OCSP{Mode: "must", OverrideURLs: []string{"a", "b"}}}},
		{`ocsp_cache: true`, Config{OCSPCache: &OCSPCache{Type: "local"}}},
		{`ocsp_cache: false`, Config{OCSPCache: &OCSPCache{Type: "none"}}},
		{`ocsp_cache { save_interval: 1.5 }`, Config{OCSPCache: &OCSPCache{Type: "local", SaveInterval: 1500 * time.Millisecond}}},
		{`ocsp_cache { type: None, local_store: d, preserve_revoked: true, save_interval: "2m" }`, Config{
			OCSPCache: &OCSPCache{Type: "none", LocalStore: "d", PreserveRevoked: true, SaveInterval: 2 * time.Minute}}},
		{`tls { ocsp_peer: true }`, Config{TLS: &TLS{OCSPPeer: &OCSPPeer{Verify: true, CATimeout: -1, ClockSkew: -1, TTLUnset: -1}}}},
		{`tls { ocsp_peer: false }`, Config{TLS: &TLS{OCSPPeer: &OCSPPeer{CATimeout: -1, ClockSkew: -1, TTLUnset: -1}}}},
		{`tls { ocsp_peer { verify: true, ca_timeout: 0.5, allowed_clockskew: 0, cache_ttl_when_next_update_unset: "1h",
			warn_only: true, unknown_is_good: true, allow_when_ca_unreachable: true } }`, Config{TLS: &TLS{OCSPPeer: &OCSPPeer{
			Verify: true, CATimeout: time.Second / 2, TTLUnset: time.Hour, WarnOnly: true, UnknownIsGood: true, AllowUnreachable: true}}}},
	} {
		got, err := load(c.text, true)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		cleared(reflect.ValueOf(got))
		if !reflect.DeepEqual(got.OCSP, c.want.OCSP) || !reflect.DeepEqual(got.OCSPCache, c.want.OCSPCache) ||
			!reflect.DeepEqual(got.TLS, c.want.TLS) {
			t.Errorf("%s: %+v, %+v, %+v", c.text, got.OCSP, got.OCSPCache, got.TLS)
		}
	}
	for _, text := range []string{`ocsp: 1`, `ocsp_cache: yes_please`, `tls { ocsp_peer: 3 }`, `tls { ocsp_peer { verify: 1 } }`, `ocsp_cache { type: disk }`} {
		if _, err := load(text, true); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestKeyExchangesAreDecoded(t *testing.T) {
	names := []string{"X25519", "CurveP256", "CurveP384", "CurveP521", "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"}
	c, err := load(`tls { curve_preferences: [`+strings.Join(names, ", ")+`] }`, true)
	if err != nil || !reflect.DeepEqual(c.TLS.CurvePreferences, names) {
		t.Errorf("%v, %v", c.TLS, err)
	}
}
