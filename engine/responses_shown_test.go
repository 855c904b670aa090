package engine

import (
	"encoding/json"
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// An answer still to come is shown with whether its import shares who asked.
func TestAnswersToComeAreShown(t *testing.T) {
	for _, share := range []bool{false, true} {
		o := Options{Accounts: []config.Account{
			{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}, Exports: []config.Export{{Kind: config.Service, Subject: "s", Public: true}}},
			{Name: "B", Users: []config.User{{Name: "b", Password: "p"}}, Imports: []config.Import{{Kind: config.Service, Account: "A", Subject: "s", Share: share}}},
		}}
		e, w := started(t, o)
		as(e, w, "a", "SUB s 1\r\n")
		b := as(e, w, "b", "SUB r 1\r\n")
		say(e, b, "PUB s r 0\r\n\r\n")
		all := e.responseInfo(e.byAccount["A"])
		if len(all) != 1 {
			t.Fatalf("%d are shown", len(all))
		}
		for _, x := range all { //natsd:orderfree there is one
			var again monitor.Import
			text, err := json.Marshal(x)
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil || again.Share != share || again.Subject != "r" || again.Account != "B" {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
}
