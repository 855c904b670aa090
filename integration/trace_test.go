package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// The lines of an account that somebody asks for are in the log though trace and debug are off, before a reload and after it; those
// of others are not.
func TestTraceOfAnAccountIsLogged(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		const config = `accounts { SYS { users: [{user: s, password: p}] }, A { users: [{user: a, password: p}] }, B { users: [{user: b, password: p}] } }
system_account: SYS
`
		file := filepath.Join(t.TempDir(), "natsd.conf")
		ok(t, os.WriteFile(file, []byte(config), 0o600))
		p := start("-c", file)
		sys := p.connect(nats.UserInfo("s", "p"))
		server := "$SYS.REQ.SERVER." + sys.ConnectedServerId()
		ask(t, sys, server+".TRACE", `{"account": "A", "debug": true}`, `{"account":"A","trace":true,`)
		traced := func(what string) {
			t.Helper()
			b, a := p.connect(nats.UserInfo("b", "p")), p.connect(nats.UserInfo("a", "p"))
			for _, nc := range []*nats.Conn{b, a} {
				ok(t, nc.Publish(what, []byte("hi")))
				ok(t, nc.Flush())
			}
			a.Close()
			line := " - <<- [PUB " + what + " 2]"
			until(t, what, func() bool {
				_, behind, _ := strings.Cut(p.stderr.String(), line)
				return strings.Contains(behind, "[DBG]") && strings.Contains(behind, "Client connection closed: Client Closed")
			})
			if log := p.stderr.String(); strings.Count(log, line) != 1 || strings.Contains(log, "B/user:b") {
				t.Errorf("log:\n%s", log)
			}
		}
		traced("first")
		ok(t, os.WriteFile(file, []byte(config+"max_payload: 1000\n"), 0o600))
		ask(t, sys, server+".RELOAD", "", `"server":{`)
		traced("second")
		ask(t, sys, server+".TRACE", `{"off": true}`, `"accounts":[]`)
	})
}
