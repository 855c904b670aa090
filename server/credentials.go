package server

import (
	"flag"
	"fmt"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/engine"
)

// overrule has the credentials of the flags, if there are any, take the place of the file's single user or token, of whichever kind.
// Flags that would take those away and ask for nothing instead are an error: an empty variable of a script must not open the server.
func (s *settings) overrule(flags *flag.FlagSet) error {
	said := s.said()
	var one, token bool
	var err error
	flags.Visit(func(f *flag.Flag) {
		was := map[string]string{"user": said.User, "pass": said.Pass, "auth": said.Token}[f.Name]
		if f.Value.String() == "" && was != "" {
			err = fmt.Errorf("--%s is empty, and would take away what the configuration file asks clients for: "+
				"leave the flag out, or change the file", f.Name)
		}
		one, token = one || f.Name == "user" || f.Name == "pass", token || f.Name == "auth"
	})
	o := &s.engine
	switch {
	case one == token:
	case token && o.Token != "":
		o.User, o.Pass = "", ""
	case one && o.User != "":
		o.Token = ""
	}
	return err
}

// said is what the file says of how clients prove themselves, whatever the flags do.
func (s *settings) said() (o engine.Options) {
	if s.file != nil {
		o.FromConfig(s.file.Config)
	}
	return o
}

// checkCredentials refuses flags that ask for what does not go together, or not with the file's users.
func (s *settings) checkCredentials(wrong func(at conf.Pos, format string, args ...any)) {
	o, said := &s.engine, s.said()
	both := func(o *engine.Options) bool { return o.Token != "" && (o.User != "" || o.Pass != "") }
	if both(o) && !both(&said) { // the file has been checked
		wrong(conf.Pos{}, "a token and a user or password can't both be required")
	}
	for i := range o.Accounts {
		a := &o.Accounts[i]
		if len(a.Users) == 0 {
			continue
		}
		if o.Token != "" && said.Token == "" {
			wrong(a.Pos, "--auth: a token and users of accounts can't both be set")
		}
		if o.User != "" && said.User == "" {
			wrong(a.Pos, "--user: a user and users of accounts can't both be set: put the user into an account")
		}
		return
	}
}
