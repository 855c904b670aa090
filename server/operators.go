package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jwt/v2"

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
