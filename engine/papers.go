package engine

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

// claimed is who a connection is, or says it is.
func (c *conn) claimed() string {
	switch {
	case c.user != nil:
		return c.userName()
	case c.connect.User != "":
		return c.connect.User
	default:
		return c.connect.Nkey
	}
}
