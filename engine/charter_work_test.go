package engine

import (
	"testing"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
)

// What it takes to bring a JWT into force counts in the turn, by how many accounts get other rules: those that import from it, and
// no others.
func TestWorkOfACharter(t *testing.T) {
	const others, importers = 40, 10
	w := newOperatorWorld(t, config.FullResolver, nil)
	from := testAccount(10)
	text := func(i, conns int) *claims.Account {
		a, err := claims.DecodeAccount(w.account(testAccount(10+i), func(c *jwt.AccountClaims) {
			c.Limits.Conn = int64(conns)
			c.Exports.Add(&jwt.Export{Subject: "s.>", Type: jwt.Service})
			if 0 < i && i <= importers && conns < 3 {
				c.Imports.Add(&jwt.Import{Account: publicOf(from), Subject: "s.x", Type: jwt.Service})
				c.Imports.Add(&jwt.Import{Account: publicOf(from), Subject: "s.y", Type: jwt.Service})
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	charter := func(i, conns int) (work int) {
		turn(w.e, func() {
			before := w.e.work
			w.e.charter(text(i, conns))
			work = w.e.work - before
		})
		return work
	}
	for i := range others {
		charter(i, 1)
	}
	for _, x := range []struct{ i, conns, want int }{
		{0, 2, 1 + importers}, {others - 1, 2, 1}, {1, 2, 1}, {1, 3, 1}, {0, 3, importers}, {1, 1, 1}, {0, 4, 1 + importers},
	} {
		if got := charter(x.i, x.conns); got/amendWork != x.want {
			t.Errorf("account %d, %d: %d accounts are charged, want %d", x.i, x.conns, got/amendWork, x.want)
		}
	}
}
