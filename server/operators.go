package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/tlsconf"
)

// takeOperators reads the files that operator mode names in place of JWTs, and returns what is wrong with them.
func (s *settings) takeOperators(c *config.Config) (problems []*conf.Error) {
	o := &c.Operators
	read := func(what string, l *config.Located) {
		text, err := jwtOrFile(l.Text)
		if err != nil {
			problems = append(problems, &conf.Error{Pos: l.Pos, What: fmt.Sprintf("%s: neither a JWT nor a file with one: %v", what, err)})
		}
		l.Text = text
	}
	for i := range o.Operators {
		read("operator", &o.Operators[i])
	}
	if o.DefaultSentinel.Text != "" {
		read("default_sentinel", &o.DefaultSentinel)
	}
	if r := &o.Resolver; r.Kind == config.URLResolver && !strings.HasSuffix(r.URL, "/") {
		r.URL += "/"
	}
	s.accountDir, s.resolverTLS = o.Resolver.Dir, o.ResolverTLS
	return problems
}

// checkAccounts reports a directory of account JWTs that can't be one, and preloaded JWTs that don't count now.
func checkAccounts(o *config.Operators, rep *conf.Report, now time.Time) {
	if r := &o.Resolver; r.OnShelf() && !mayBeDir(r.Dir) {
		rep.Errorf(r.Pos, "dir needs to point to an accessible directory")
	}
	for _, p := range o.Preload {
		a, err := claims.DecodeAccount(p.JWT)
		var invalid *claims.Invalid
		switch {
		case err != nil && !errors.As(err, &invalid): // it is none: an error, and told as one
		case err != nil:
			rep.Warnf(p.Pos, "resolver_preload: account %s has validation issues: %v", p.Account, err)
		case a.Expired(now.Unix()):
			rep.Warnf(p.Pos, "resolver_preload: account %s has validation issues: claim is expired", p.Account)
		case a.Early(now.Unix()):
			rep.Warnf(p.Pos, "resolver_preload: account %s has validation issues: claim is not yet valid", p.Account)
		}
	}
}

// mayBeDir reports whether there is a directory with that name, or one could be made.
func mayBeDir(name string) bool {
	for name = filepath.Clean(name); ; name = filepath.Dir(name) {
		switch info, err := os.Stat(name); {
		case err == nil:
			return info.IsDir()
		case !errors.Is(err, fs.ErrNotExist) || name == filepath.Dir(name):
			return false
		}
	}
}

// jwtOrFile returns a JWT: text itself, or what the file with that name holds, alone or between the lines that begin and end
// it. The error is that there is no such file.
func jwtOrFile(text string) (string, error) {
	const begin = "eyJ" // of every JWT: {" in base 64
	if strings.HasPrefix(text, begin) {
		return text, nil
	}
	file, err := os.ReadFile(filepath.Clean(text))
	if err != nil {
		return text, err
	}
	if inner, err := jwt.ParseDecoratedJWT(file); err == nil && strings.HasPrefix(inner, begin) {
		return inner, nil
	}
	return strings.TrimSpace(string(file)), nil
}

// fetchTLS is how the pages of a URL resolver are got; nil: as any.
func (s *settings) fetchTLS() (t *tls.Config, problems []*tlsconf.Fault) {
	c := s.resolverTLS
	if c == nil {
		return nil, nil
	}
	bad := func(key string, err error) {
		problems = append(problems, &tlsconf.Fault{Key: key, File: true, Err: fmt.Errorf("resolver_tls: %w", err)})
	}
	t = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			bad("cert_file", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	if c.CAFile != "" {
		t.RootCAs = x509.NewCertPool()
		if text, err := os.ReadFile(c.CAFile); err != nil {
			bad("ca_file", err)
		} else if !t.RootCAs.AppendCertsFromPEM(text) {
			bad("ca_file", fmt.Errorf("%s has no certificate", c.CAFile))
		}
	}
	return t, problems
}
