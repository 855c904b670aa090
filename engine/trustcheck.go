package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
)

// checkSystem says what is wrong with the choice of the server's own account in operator mode. Where accounts are is a directory
// or a URL, it may be found later.
func checkSystem(o *Options, operators []*claims.Operator, wrong func(config.Pos, string, ...any)) {
	s, named, agreed := o.SystemAccount, "", false
	for i, op := range operators {
		if op.SystemAccount == "" {
			continue
		}
		if agreed = agreed || op.SystemAccount == o.SystemAccount.Text; named == "" {
			named = op.SystemAccount
		}
		if s.Text == "" {
			s = config.Located{Pos: o.Operators.Operators[i].Pos, Text: named}
		}
	}
	switch {
	case s.Text == "":
	case o.SystemAccount.Text != "" && named != "" && !agreed:
		wrong(s.Pos, "system_account in config and operator JWT must be identical")
	case o.Operators.Resolver.Kind == config.MemoryResolver:
		if err := resolves(o, operators, s.Text); err != nil {
			wrong(s.Pos, "error resolving system account: %v", err)
		}
	}
}

// resolves says why the memory resolver has no use for an account's JWT, at any time.
func resolves(o *Options, operators []*claims.Operator, key string) error {
	t := &trust{operators: operators}
	for _, k := range o.Operators.TrustedKeys {
		t.keys = append(t.keys, k.Text)
	}
	text := ""
	for _, p := range o.Operators.Preload {
		if p.Account == key {
			text = p.JWT
		}
	}
	if text == "" {
		return errors.New("account missing")
	}
	a, err := claims.DecodeAccount(text)
	switch {
	case err != nil:
		return err
	case a.Rules.Name != key:
		return errors.New("subject does not match jwt content")
	case !t.vouches(a.Issuer):
		return errors.New("issuer " + a.Issuer + " is not trusted")
	}
	return nil
}

// checkVersion says why an operator does not want a server of this version; nil: it does.
func checkVersion(op *claims.Operator) error {
	if op.Version == "" {
		return nil
	}
	wants, is := strings.Split(op.Version, "."), strings.Split(NatsVersion, ".")
	for i, part := range [...]string{"major", "minor", "update"} {
		if i >= len(wants) {
			break
		}
		want, err := strconv.Atoi(wants[i])
		if err != nil {
			return fmt.Errorf("operator %s expects server version %q, which is none", op.Key, op.Version)
		}
		have, _ := strconv.Atoi(is[i]) // NatsVersion is one
		switch {
		case want > have:
			return fmt.Errorf("operator %s expected %s version %d > server %s version %d", op.Key, part, want, part, have)
		case want < have:
			return nil
		}
	}
	return nil
}
