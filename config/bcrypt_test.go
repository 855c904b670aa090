package config

import "testing"

// What only begins like a hash is the password itself: as a hash, it would keep everybody out.
func TestIsBcrypt(t *testing.T) {
	//natsd:orderfree each is judged on its own
	for password, want := range map[string]bool{
		"$2a$11$IIwgHt7RVLrVrxgmvA2NxO/FPsVXxnwjDNcj.BgkYWcSDCNn8zHCG": true,
		"$2b$04$": true, "$2x$10$x": true, "$2y$99$x": true,
		"": false, "$": false, "$2": false, "$2a$": false, "$2a$11": false, "$2a$x{}": false, "$2a$1$abc": false, "$2a$011$abc": false,
		"$2A$11$abc": false, "$2c$11$abc": false, "$2$11$abc": false, "$2ab$11$abc": false, "x$2a$11$abc": false, "$1a$11$abc": false,
	} {
		if IsBcrypt(password) != want {
			t.Errorf("%q: %v", password, !want)
		}
	}
}
