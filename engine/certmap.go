package engine

import (
	"encoding/hex"
	"slices"
	"strings"
)

// With verify_and_map a client is whom its certificate names: the first of the alternative names (e-mail addresses, then DNS
// names, then URIs) that is a user's name, or else the user whose name is the certificate's distinguished name. Of that the
// order does not matter: programs print it either way round, and with blanks or without.

// certified finds the user that a connection's certificate names; nil if there is none.
func (e *Engine) certified(c *conn) *user {
	t := c.tlsInfo
	if t == nil || !t.Verified || len(t.Peer) == 0 {
		return nil
	}
	p := &t.Peer[0]
	for _, names := range [...][]string{p.Emails, p.DNSNames, p.URIs} {
		for _, n := range names {
			if u := e.users.byName[n]; u != nil {
				return u
			}
		}
	}
	if u := e.users.byName[p.Subject]; u != nil {
		return u
	}
	var parts []string
	for _, rdn := range p.RDNs {
		for _, a := range rdn {
			parts = append(parts, distinguished(a.Type, a.Value))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return e.users.byDN[canonicalDN(parts)]
}

// mapCertificate lets a connection in by its certificate, and the password of the user whom that names, if it has one.
func (e *Engine) mapCertificate(c *conn, answer bool) {
	who := e.certified(c)
	switch {
	case who == nil:
		e.explain(c, "no user is named by the client's certificate")
	case c.connect.User != "":
		e.complainAt(LevelWarn, c, "User "+quoted(c.connect.User)+" found in connect proto, but user required from cert")
	}
	if e.delegated(c, who) {
		e.callout(c, answer)
		return
	}
	if who == nil {
		e.decide(c, nil, false, answer)
		return
	}
	e.prove(c, who, who.name, c.connect.Pass, answer)
}

// distinguished is one attribute of a distinguished name, so that equal ones are the same.
func distinguished(kind, value string) string {
	return strings.ToUpper(strings.TrimSpace(kind)) + "=" + value
}

// canonicalDN makes one text of the attributes of a distinguished name.
func canonicalDN(parts []string) string {
	slices.Sort(parts)
	return strings.Join(parts, "\x00")
}

// parseDN reads a distinguished name as RFC 2253 writes it; false: it is none.
func parseDN(text string) (canonical string, ok bool) {
	var parts []string
	for text != "" {
		var kind, value string
		if kind, text, ok = strings.Cut(text, "="); !ok || strings.TrimSpace(kind) == "" || strings.ContainsAny(kind, ",+;\"\\") {
			return "", false
		}
		if value, text, ok = dnValue(strings.TrimLeft(text, " ")); !ok {
			return "", false
		}
		parts = append(parts, distinguished(kind, value))
	}
	return canonicalDN(parts), len(parts) > 0
}

// dnValue takes a value, and what separates it from the next attribute, off the beginning of text.
func dnValue(text string) (value, rest string, ok bool) {
	var b []byte
	last := 0 // the value's length without trailing blanks that are not escaped
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ',', '+', ';':
			return string(b[:last]), strings.TrimLeft(text[i+1:], " "), i+1 < len(text)
		case '"':
			return "", "", false // RFC 2253 allows it, and nothing writes it
		case '\\':
			if i+1 == len(text) {
				return "", "", false
			}
			if i+2 < len(text) {
				if x, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
					b = append(b, x...)
					i += 2
					last = len(b)
					continue
				}
			}
			i++
			b = append(b, text[i])
			last = len(b)
		default:
			if b = append(b, c); c != ' ' {
				last = len(b)
			}
		}
	}
	return string(b[:last]), "", true
}
