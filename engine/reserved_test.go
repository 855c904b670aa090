package engine

import (
	"testing"

	"github.com/natsd/natsd/config"
)

// What is refused, and the words, are those of nats-server 2.15.2.
func TestReservedSubjects(t *testing.T) {
	refuses := func(subj string) string { return "-ERR 'Permissions Violation for Publish to \"" + subj + "\"'\r\n" }
	refusesReply := func(subj string) string {
		return "-ERR 'Permissions Violation for Publish with Reply of \"" + subj + "\"'\r\n"
	}
	o := Options{
		Accounts: []config.Account{
			{Name: "A", Users: []config.User{{Name: "a", Password: "p"}}},
			{Name: "S", Users: []config.User{{Name: "s", Password: "p"}}},
		},
		SystemAccount: config.Located{Text: "S"},
	}
	e, w := started(t, o)
	a, s := as(e, w, "a", ""), as(e, w, "s", "")
	for _, x := range []struct {
		user          ConnID
		line, answers string
	}{
		{a, "PUB _GR_.x", refuses("_GR_.x")},
		{a, "PUB $GR.x.y", refuses("$GR.x.y")},
		{a, "PUB $NRG.x", refuses("$NRG.x")},
		{a, "PUB _GR_x", ""},
		{a, "PUB $GR", ""},
		{a, "PUB $NRGx", ""},
		{a, "PUB $JS.ACK.x", ""},
		{a, "PUB _R_.x", ""},
		{a, "PUB x _GR_.x", refusesReply("_GR_.x")},
		{a, "PUB x $GR.x", refusesReply("$GR.x")},
		{a, "PUB x $JS.ACK.x", refusesReply("$JS.ACK.x")},
		{a, "PUB x _R_.x", refusesReply("_R_.x")},
		{a, "PUB x _R_.", refusesReply("_R_.")},
		{a, "PUB x $JS.ACK.", ""},
		{a, "PUB x $JS.ACK", ""},
		{a, "PUB x $NRG.x", ""},
		{a, "PUB x _R_", ""},
		{s, "PUB $NRG.x", ""},
		{s, "PUB _GR_.x", refuses("_GR_.x")},
	} {
		w.take(x.user)
		say(e, x.user, x.line+" 0\r\n\r\n")
		if got := w.take(x.user); got != x.answers {
			t.Errorf("%s: %q, want %q", x.line, got, x.answers)
		}
	}
	if !w.logged(`Publish Violation - Reply "$GR.x"`) || !w.logged(`Publish Violation - Subject "_GR_.x"`) {
		t.Error("the log does not say what was refused")
	}
	if x, err := Explain(&o, "a", "$NRG.x", ""); err != nil || x.Publish.Allowed || x.Publish.List != listReserved || x.Publish.Rule != "$NRG.>" {
		t.Errorf("%+v, %v", x.Publish, err)
	}
	if x, err := Explain(&o, "s", "$NRG.x", ""); err != nil || !x.Publish.Allowed {
		t.Errorf("%+v, %v", x.Publish, err)
	}
}
