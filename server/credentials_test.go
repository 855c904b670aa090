package server

import (
	"strings"
	"testing"
)

// Flags count instead of the file's user or token, of whichever kind; users in a list, and accounts without users, stay beside them.
func TestCredentialsOfFlagsOverTheFile(t *testing.T) {
	const list = "authorization { users: [{user: u, password: p}] }"
	for _, c := range []struct {
		text, args        string
		user, pass, token string
		listed            int
	}{
		{"authorization { token: a }", "--user x --pass y", "x", "y", "", 0},
		{"authorization { user: u, password: p }", "--auth t", "", "", "t", 0},
		{"authorization { user: u, password: p }", "--user x", "x", "p", "", 0},
		{"authorization { user: u, password: p }", "--pass y", "u", "y", "", 0},
		{"authorization { token: a }", "--auth t", "", "", "t", 0},
		{"authorization { user: u, password: p }", "--auth=", "u", "p", "", 0},
		{"authorization { token: a }", "--user=", "", "", "a", 0},
		{"accounts { A {} }", "--auth t", "", "", "t", 0},
		{list, "--auth t", "", "", "t", 1},
		{list, "--user x --pass y", "x", "y", "", 1},
	} {
		s, err := parseFlags(append([]string{"-t", "-c", written(t, c.text)}, strings.Fields(c.args)...))
		if err != nil {
			t.Errorf("%s %s: %v", c.text, c.args, err)
			continue
		}
		if o := &s.engine; o.User != c.user || o.Pass != c.pass || o.Token != c.token || len(o.Users) != c.listed {
			t.Errorf("%s %s: user %q, password %q, token %q, %d listed", c.text, c.args, o.User, o.Pass, o.Token, len(o.Users))
		}
	}
}

// An empty variable of a script does not open a server that its file protects.
func TestEmptyCredentialsOfFlags(t *testing.T) {
	for text, args := range map[string]string{
		"authorization { token: a }":             "--auth=",
		"authorization { user: u, password: p }": "--pass=",
		"authorization { user: u }":              "--user=",
	} {
		if _, err := parseFlags([]string{"-t", "-c", written(t, text), args}); err == nil || !strings.Contains(err.Error(), args[:len(args)-1]+" is empty") {
			t.Errorf("%s %s: %v", text, args, err)
		}
	}
}
