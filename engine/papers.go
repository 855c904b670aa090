package engine

import "github.com/natsd/natsd/claims"

// papers are what monitoring, events and services are told of the JWT by which a connection is in, or wants to be.
type papers struct {
	text   string // empty where whoever has it could be the user
	issuer string // public key
	label  string // the user's name for people
	tags   []string
}

// papers returns what may be told of the connection's JWT.
func (c *conn) papers() (p papers) {
	u := c.user
	if u == nil || u.jwt == nil {
		if c.connect.Sig != "" {
			p.text = c.connect.JWT
		}
		return p
	}
	p = papers{text: u.jwt.Text, issuer: u.jwt.Issuer, label: u.jwt.Label, tags: u.jwt.Tags}
	if u.under == nil { // a service has let it in where accounts have no keys: the account vouches for it, and tags are nobody's
		p.issuer, p.tags = u.account.name, nil
	}
	if u.powers.Bearer {
		p.text = ""
	}
	return p
}

// turnedAway says of a connection that was not let in which account did that: operators look for it there.
type turnedAway struct {
	by   *account
	user *claims.User // the one of the JWT by which a service was asked about it; nil: none was
}

// issuer is the public key of who signed that JWT.
func (t *turnedAway) issuer() string {
	if t.user == nil {
		return ""
	}
	return t.user.Issuer
}

// name is the public key of that user; of nil, nothing.
func (t *turnedAway) name() string {
	if t == nil || t.user == nil {
		return ""
	}
	return t.user.Key
}

// account is a connection's account, or the one that has turned it away.
func (c *conn) account() *account {
	if c.turnedAway != nil {
		return c.turnedAway.by
	}
	return c.acc
}

// claimed is who a connection is, or says it is.
func (c *conn) claimed() string {
	switch {
	case c.user != nil:
		return c.userName()
	case c.connect.User != "":
		return c.connect.User
	case c.connect.Nkey != "":
		return c.connect.Nkey
	case c.connect.Token != "":
		return redacted
	default:
		return c.turnedAway.name()
	}
}
