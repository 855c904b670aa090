package server

import (
	"crypto/tls"
	"strings"

	"github.com/natsd/natsd/tlsconf"
)

const helpOfTLS = `TLS for clients is described by a block in the configuration file:

    tls {
        cert_file: "server.pem"        # the server's certificate, and those up to its authority
        key_file: "server-key.pem"
        ca_file: "ca.pem"              # the authorities of clients' certificates
        verify: true                   # clients must show one
        verify_and_map: false          # …which says who they are
        timeout: 2                     # seconds for a handshake
        handshake_first: false         # true, auto or a time: before INFO
        min_version: "1.2"             # or "1.3"
        pinned_certs: []               # SHA-256 of the public keys that clients may have
        cipher_suites: [ "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" ]    # of the lists below
        curve_preferences: [ "X25519" ]
    }

The flags --tls, --tlscert, --tlskey, --tlsverify and --tlscacert say the same as the keys of like names, and win over the file.
`

// helpTLS is what --help_tls prints.
func helpTLS() string {
	var b strings.Builder
	b.WriteString(helpOfTLS)
	list := func(title string, names []string) {
		b.WriteString("\n" + title + ":\n")
		for _, n := range names {
			b.WriteString("    " + n + "\n")
		}
	}
	namesOf := func(suites []*tls.CipherSuite) (names []string) {
		for _, s := range suites {
			names = append(names, s.Name)
		}
		return names
	}
	list("cipher_suites", namesOf(tls.CipherSuites()))
	list("cipher_suites, with allow_insecure_cipher_suites: true", namesOf(tls.InsecureCipherSuites()))
	list("curve_preferences", tlsconf.Curves())
	return b.String()
}
