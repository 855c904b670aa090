package config

import (
	"slices"

	"github.com/natsd/natsd/conf"
)

// check reports what is wrong between keys.
func (c *Config) check(rep *conf.Report) {
	if c.TLS != nil {
		c.TLS.AllowNonTLS = c.AllowNonTLS
	}
	if a := c.Authorization; a != nil {
		one := a.User != "" || a.Password != ""
		switch {
		case one && a.Token != "":
			rep.Errorf(a.Pos, "a token and a user or password can't both be required")
		case a.Users != nil && a.Token != "":
			rep.Errorf(a.Pos, "a token and a list of users can't both be set")
		case a.Users != nil && a.User != "":
			rep.Errorf(a.Pos, "a user and a list of users can't both be set")
		case c.accountsHaveUsers() && one:
			rep.Errorf(a.Pos, "a user and users of accounts can't both be set: put the user into an account")
		case c.accountsHaveUsers() && a.Token != "":
			rep.Errorf(a.Pos, "a token and users of accounts can't both be set")
		}
	}
	for _, p := range c.Proxies {
		if p.Text == "" {
			rep.Errorf(p.Pos, "a trusted proxy needs a key")
		}
	}
	users := map[string]Pos{}
	keys := map[string]Pos{}
	if c.Authorization != nil {
		once(rep, c.Authorization.Users, users, keys)
	}
	for i := range c.Accounts {
		once(rep, c.Accounts[i].Users, users, keys)
	}
}

// accountsHaveUsers: an account without any may stand beside one user, or token, of authorization, who is in the global one.
func (c *Config) accountsHaveUsers() bool {
	return slices.ContainsFunc(c.Accounts, func(a Account) bool { return len(a.Users) > 0 })
}

// once reports users and nkeys that occur a second time.
func once(rep *conf.Report, list []User, users, keys map[string]Pos) {
	for i := range list {
		u := &list[i]
		for _, k := range []struct {
			name string
			in   map[string]Pos
		}{{u.Name, users}, {u.NKey, keys}} {
			if k.name == "" {
				continue
			}
			if first, there := k.in[k.name]; there {
				rep.Errorf(u.Pos, "the user %q is there twice: first at %v", k.name, first)
				continue
			}
			k.in[k.name] = u.Pos
		}
	}
}
