package config

import "testing"

// Taking the last account out of a list does not open an export to everybody.
func TestExportToNobody(t *testing.T) {
	c, err := load("accounts { A { exports: [ {service: s, accounts: []}, {stream: s, accounts: []}, {service: t} ] } }", true)
	if err != nil {
		t.Fatal(err)
	}
	for i, public := range []bool{false, false, true} {
		if x := &c.Accounts[0].Exports[i]; x.Public != public || len(x.Accounts) != 0 {
			t.Errorf("export %d: %+v", i, x)
		}
	}
}
