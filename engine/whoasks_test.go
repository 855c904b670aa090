package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// In a chain of services, what the account of who asks shares with the first is shared with all, and nothing else is, whatever
// the services between say. A measurement needs the word of both: of who asks, and of the import that is measured.
func TestShareOfWhoAsks(t *testing.T) {
	for bits := range 8 {
		shares := func(i int) []func(*config.Import) {
			if bits>>i&1 > 0 {
				return []func(*config.Import){shared}
			}
			return nil
		}
		measured := exports(config.Service, "svc")
		measured[0].Latency = &config.Latency{Subject: "lat", Sampling: 100}
		s := withAccounts(t, Options{ServerName: "n"},
			config.Account{Name: "D", Exports: measured},
			config.Account{Name: "C", Imports: []config.Import{service("D", "svc", shares(2)...)}, Exports: exports(config.Service, "svc")},
			config.Account{Name: "B", Imports: []config.Import{service("C", "svc", shares(1)...)}, Exports: exports(config.Service, "svc")},
			config.Account{Name: "A", Imports: []config.Import{service("B", "svc", shares(0)...)}})
		a := s.join("A", "SUB r 1\r\n")
		for i, account := range []string{"B", "C", "D"} {
			c := s.join(account, "SUB svc 1\r\n")
			s.say(a, "PUB svc r 0\r\n\r\n")
			text, reply := s.replySubject(c)
			known := strings.Contains(text, `"host":"127.0.0.1","id":1,"acc":"A",`)
			if want := bits&1 > 0; known != want || strings.Contains(text, `"start"`) != want || !strings.Contains(text, `"acc":"A"`) {
				t.Errorf("shared %03b: %s got %q", bits, account, text)
			}
			if server, want := strings.Contains(text, `"server":"n"`), bits&(2<<i-1) > 0; server != want {
				t.Errorf("shared %03b: %s is told of the server: %v", bits, account, server)
			}
			if account != "D" {
				s.say(c, fmt.Sprintf("PUB %s 0\r\n\r\nUNSUB 1\r\n", reply))
				continue
			}
			watch := s.join("D", "SUB lat 2\r\n")
			s.say(c, fmt.Sprintf("PUB %s 0\r\n\r\n", reply))
			s.w.settle(t, s.e)
			all := delivered(t, s.w.take(watch))
			if len(all) != 1 {
				t.Fatalf("shared %03b: %d measurements", bits, len(all))
			}
			requestor, _, _ := strings.Cut(all[0].body, `"responder"`)
			if known, want := strings.Contains(requestor, `"host"`), bits&5 == 5; known != want {
				t.Errorf("shared %03b: measured as %s", bits, requestor)
			}
		}
	}
}
