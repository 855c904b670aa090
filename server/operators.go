package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
)

// takeOperators reads the files that operator mode names in place of JWTs.
func (s *settings) takeOperators(c *config.Config) {
	o := &c.Operators
	for i := range o.Operators {
		o.Operators[i].Text = jwtOrFile(o.Operators[i].Text)
	}
	if o.DefaultSentinel.Text != "" {
		o.DefaultSentinel.Text = jwtOrFile(o.DefaultSentinel.Text)
	}
	if r := &o.Resolver; r.Kind == config.URLResolver && !strings.HasSuffix(r.URL, "/") {
		r.URL += "/"
	}
	s.accountDir, s.resolverTLS = o.Resolver.Dir, o.ResolverTLS
}

// jwtOrFile returns a JWT: text itself, or what the file with that name holds, alone or between the lines that begin and end
// it. What is neither is returned as it is, for the check that follows to complain about.
func jwtOrFile(text string) string {
	const begin = "eyJ" // of every JWT: {" in base 64
	if strings.HasPrefix(text, begin) {
		return text
	}
	file, err := os.ReadFile(filepath.Clean(text))
	if err != nil {
		return text
	}
	if inner, err := jwt.ParseDecoratedJWT(file); err == nil && strings.HasPrefix(inner, begin) {
		return inner
	}
	return strings.TrimSpace(string(file))
}

// fetchTLS is how the pages of a URL resolver are got; nil: as any.
func (s *settings) fetchTLS() (*tls.Config, error) {
	c := s.resolverTLS
	if c == nil {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure}
	if c.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("resolver_tls: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	if c.CAFile == "" {
		return t, nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("resolver_tls: %w", err)
	}
	if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("resolver_tls: %s has no certificate", c.CAFile)
	}
	return t, nil
}
