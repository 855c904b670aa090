package server

import (
	"slices"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// plainPasswords reports whether a password is there as it is, so that whoever reads the file has it.
func plainPasswords(o *engine.Options) bool {
	plain := func(p string) bool { return p != "" && !config.IsBcrypt(p) }
	some := func(users []config.User) bool {
		return slices.ContainsFunc(users, func(u config.User) bool { return plain(u.Password) })
	}
	return plain(o.Pass) || some(o.Users) || slices.ContainsFunc(o.Accounts, func(a config.Account) bool { return some(a.Users) })
}
