package server

import (
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// The warning comes where nats-server's does, but not for users without a password.
func TestPlainPasswords(t *testing.T) {
	const hash = "$2a$11$IIwgHt7RVLrVrxgmvA2NxO/FPsVXxnwjDNcj.BgkYWcSDCNn8zHCG"
	user := func(password string) []config.User { return []config.User{{Name: "u", Password: password}} }
	for name, c := range map[string]struct {
		o    engine.Options
		want bool
	}{
		"none": {}, "token": {o: engine.Options{Token: "t"}}, "hash": {o: engine.Options{User: "u", Pass: hash}},
		"user":                        {engine.Options{User: "u", Pass: "p"}, true},
		"users":                       {engine.Options{Users: user("p")}, true},
		"users' hashes":               {o: engine.Options{Users: user(hash)}},
		"accounts":                    {engine.Options{Accounts: []config.Account{{Name: "A"}, {Name: "B", Users: user("p")}}}, true},
		"accounts without a password": {o: engine.Options{Accounts: []config.Account{{Name: "A", Users: user("")}}}},
	} {
		if got := plainPasswords(&c.o); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
