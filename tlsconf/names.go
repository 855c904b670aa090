package tlsconf

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strings"
)

// CipherSuite finds a cipher suite by its name.
func CipherSuite(name string) (id uint16, insecure bool, err error) {
	for _, s := range tls.CipherSuites() {
		if s.Name == name {
			return s.ID, false, nil
		}
	}
	for _, s := range tls.InsecureCipherSuites() {
		if s.Name == name {
			return s.ID, true, nil
		}
	}
	return 0, false, fmt.Errorf("unrecognized cipher %s", name)
}

var curves = [...]tls.CurveID{
	tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521,
	tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024,
}

// Curves are the names of key exchanges.
func Curves() (names []string) {
	for _, c := range curves {
		names = append(names, c.String())
	}
	return names
}

// Curve finds a key exchange by its name.
func Curve(name string) (tls.CurveID, error) {
	for _, c := range curves {
		if c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("unrecognized curve preference %s", name)
}

// Version reads a minimum version. Nothing older than 1.2 is supported.
func Version(text string) (uint16, error) {
	switch text {
	case "1.2":
		return tls.VersionTLS12, nil
	case "1.3":
		return tls.VersionTLS13, nil
	case "1.0", "1.1":
		return 0, fmt.Errorf("unsupported TLS version: TLS %s", text)
	}
	return 0, fmt.Errorf("unknown version: %s", text)
}

// Pin checks the form of a pinned certificate and brings it into lower case.
func Pin(text string) (string, error) {
	pin := strings.ToLower(text)
	if raw, err := hex.DecodeString(pin); err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("'pinned_certs' key %s does not look like hex-encoded sha256 of DER encoded SubjectPublicKeyInfo", text)
	}
	return pin, nil
}
