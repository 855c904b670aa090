package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

var anyKey = regexp.MustCompile(`\b[AUO][A-Z2-7]{55}\b`)

// TestMonitoringFieldsWithOperator compares, as TestMonitoringFields does, what is told of accounts that JWTs describe.
func TestMonitoringFieldsWithOperator(t *testing.T) {
	const file = "testdata/monitoring_operator.txt"
	o := newOperator(t)
	a, b := newAccountKey(t), newAccountKey(t)
	user, err := nkeys.CreateUser()
	ok(t, err)
	revoked := func() jwt.RevocationList {
		return jwt.RevocationList{publicKey(t, user): time.Now().Unix(), "*": 1000}
	}
	exporter := o.account(a, func(c *jwt.AccountClaims) {
		c.Exports.Add(
			&jwt.Export{Subject: "svc.*", Type: jwt.Service, TokenReq: true, Revocations: jwt.RevocationList{publicKey(t, b): 1000}},
			&jwt.Export{Subject: "open", Type: jwt.Service, ResponseType: jwt.ResponseTypeChunked},
			&jwt.Export{Subject: "slow", Type: jwt.Service, Latency: &jwt.ServiceLatency{Sampling: jwt.Headers, Results: "lat"}},
			&jwt.Export{Subject: "ev.>", Type: jwt.Stream, TokenReq: true},
		)
		c.Revocations = revoked()
		c.Mappings = jwt.Mapping{"m": {{Subject: "n", Weight: 30, Cluster: "other"}}}
		c.Tags.Add("t")
	})
	importer := o.account(b, func(c *jwt.AccountClaims) {
		c.Imports.Add(
			&jwt.Import{Subject: "open", Account: publicKey(t, a), Type: jwt.Service, LocalSubject: "mine", Share: true},
			&jwt.Import{Subject: "slow", Account: publicKey(t, a), Type: jwt.Service},
			&jwt.Import{Subject: "ev.x", Account: publicKey(t, a), Type: jwt.Stream}, // can't be in force
		)
	})
	config := filepath.Join(t.TempDir(), "natsd.conf")
	ok(t, os.WriteFile(config, fmt.Appendf(nil, "operator: %s\nresolver: MEMORY\nresolver_preload { %s: %s, %s: %s, %s: %s }\n", o.text,
		publicKey(t, o.sys), o.account(o.sys, nil), publicKey(t, a), exporter, publicKey(t, b), importer), 0o600))
	fields := func(start func(args ...string) *process) []string {
		p := start("-m", "-1", "-c", config)
		all := map[string]bool{}
		for i, k := range []nkeys.KeyPair{a, b} {
			nc, _ := newSomeone(t, k, nil).join(t, p.url)
			var v any
			page := fetch(t, p.http+"/accountz?acc="+publicKey(t, k))
			nc.Close()
			ok(t, json.Unmarshal([]byte(anyKey.ReplaceAllString(page, "KEY")), &v))
			addFields(all, "operator /accountz?acc="+string(rune('A'+i)), "", v)
		}
		return slices.Sorted(maps.Keys(all))
	}
	programs(t, func(t *testing.T, start func(...string) *process) {
		compareFields(t, file, fields(start), func() []string {
			return fields(func(args ...string) *process { return startProgram(t, exec.Command(*peer, args...)) })
		})
	})
}
