package oracle

import (
	"testing"

	"github.com/natsd/natsd/sim/model"
)

// A request that goes on in another account comes there later than in its own, and who subscribed meanwhile gets it; not who
// subscribed when it had been there.
func TestRequestsComeToAnotherAccountLater(t *testing.T) {
	rules := &model.Rules{Accounts: []model.Account{
		{Name: "EAST", Users: []model.User{{Name: "e"}}, Exports: []model.Export{{Kind: model.Service, Subject: "dice"}}},
		{Name: "WEST", Users: []model.User{{Name: "w"}}, Imports: []model.Import{{Kind: model.Service, Account: "EAST", Subject: "dice"}}},
	}}
	for _, c := range []struct {
		first, fails string
	}{{"w", ""}, {"e", Interest}} {
		o := New()
		o.Govern(rules)
		open := func(client uint32, user string) *Conn {
			return o.Open(IDOf(client, 0), ConnOptions{Echo: true, User: user})
		}
		pub, early, late := open(1, "w"), open(2, c.first), open(3, "e")
		o.Subscribe(early, 1, "dice", "")
		o.Publish(pub, 1, "dice", "")
		receive := func(by *Conn) {
			var info *Info
			if by.opts.User == "e" {
				info = &Info{Account: "WEST"}
			}
			o.Receive(by, &Message{SID: 1, Subject: []byte("dice"), From: pub.id, N: 1, Intact: true, Info: info})
		}
		receive(early)
		o.Subscribe(late, 1, "dice", "")
		receive(late)
		if f, _ := o.Failure(); f.Property != c.fails {
			t.Errorf("after a receiver of user %s had it: %q, want %q", c.first, f, c.fails)
		}
	}
}
