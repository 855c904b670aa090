package engine

import "testing"

// Who asks all servers for the one that leads gets no answer from the others.
func TestOnlyWhoLeadsAnswers(t *testing.T) {
	s := newSystem(t, Options{})
	for body, want := range map[string]bool{`{"leader_only":true}`: false, `{"leader_only":false}`: true, "": true} { //natsd:orderfree each stands alone
		for _, to := range []string{"PING", "<ID>"} {
			label := "s asks $SYS.REQ.SERVER." + to + ".JSZ " + body
			s.asks(label, map[string]ConnID{"s": s.sys})
			if got := len(s.saw[label]) > 0; got != want {
				t.Errorf("%s: %t", label, got)
			}
		}
	}
}
