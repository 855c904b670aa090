package claims

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
)

// User is what a user JWT says. It never changes and may be shared.
type User struct {
	Span
	Key      string // public
	Label    string // its name for people
	Tags     []string
	Issuer   string // the account's key or one of its signing keys
	Account  string // the account's key
	ForOther bool   // the JWT names the account apart from who signed it (issuer_account)
	Audience string // of the answers of auth callout: the account, by name, that the user is placed in
	Powers   *Powers
	Empty    bool // Powers says nothing: what a scoped signing key demands
	Text     string
}

// Powers are what a user JWT, or the template of a scoped signing key, says of a user.
type Powers struct {
	Permissions   *permission.Spec // nil: nothing
	Subscriptions config.Limit
	Payload       config.Limit   // bytes
	Sources       []netip.Prefix // addresses it may come from; nil: any
	Windows       []Window       // of a day; nil: always
	Zone          string         // that the windows are meant in, as "Europe/Berlin"; empty: UTC
	Types         []string       // of connections, upper case; nil: any
	Bearer        bool           // the JWT alone is enough
	ProxyRequired bool
}

// DecodeUser reads a user JWT and verifies that its issuer signed it.
func DecodeUser(text string) (*User, error) {
	c, err := jwt.DecodeUserClaims(text)
	if err != nil {
		return nil, err
	}
	if err := check(c.User.Permissions.Validate); err != nil {
		return nil, err
	}
	u := &User{
		Span: span(&c.ClaimsData), Key: c.Subject, Label: c.Name, Tags: c.Tags, Issuer: c.Issuer, Account: c.IssuerAccount, ForOther: c.IssuerAccount != "",
		Audience: c.Audience, Empty: c.HasEmptyPermissions(), Text: text,
	}
	if u.Account == "" {
		u.Account = u.Issuer
	}
	u.Powers, err = powers(&c.UserPermissionLimits)
	return u, err
}

func powers(l *jwt.UserPermissionLimits) (*Powers, error) {
	p := &Powers{
		Permissions: spec(&l.Permissions), Subscriptions: bound(l.Subs), Payload: bound(l.Payload), Zone: l.Locale,
		Bearer: l.BearerToken, ProxyRequired: l.ProxyRequired,
	}
	for _, s := range l.Src {
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("invalid cidr %q in user src limits", s)
		}
		if a := prefix.Addr(); a.Is4In6() && prefix.Bits() >= 96 { // how some write networks of IPv4
			prefix = netip.PrefixFrom(a.Unmap(), prefix.Bits()-96)
		}
		p.Sources = append(p.Sources, prefix)
	}
	for _, t := range l.Times {
		w, err := parseWindow(t.Start, t.End)
		if err != nil {
			return nil, err
		}
		p.Windows = append(p.Windows, w)
	}
	for _, t := range l.AllowedConnectionTypes {
		p.Types = append(p.Types, strings.ToUpper(t))
	}
	return p, nil
}

// spec is what a JWT says about permissions; nil: nothing.
func spec(p *jwt.Permissions) *permission.Spec {
	if p.Pub.Empty() && p.Sub.Empty() && p.Resp == nil {
		return nil
	}
	s := &permission.Spec{
		Publish:   permission.Lists{Allow: slices.Clone(p.Pub.Allow), Deny: slices.Clone(p.Pub.Deny)},
		Subscribe: permission.Lists{Allow: slices.Clone(p.Sub.Allow), Deny: slices.Clone(p.Sub.Deny)},
	}
	if r := p.Resp; r != nil {
		s.Responses = &permission.ResponseLimit{Max: r.MaxMsgs, Expires: int64(r.Expires)}
	}
	return s
}

// From reports whether a user with these powers may connect from ip.
func (p *Powers) From(ip string) bool {
	if len(p.Sources) == 0 {
		return true
	}
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.Sources, func(s netip.Prefix) bool { return s.Contains(a.Unmap().WithZone("")) })
}
