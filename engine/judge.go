package engine

import (
	"slices"
	"time"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/wire"
)

// connectionType is what client connections are, in the lists of types that a user may connect with.
const connectionType = "STANDARD"

// verdict is why a user is not let in, or not any longer. The client learns err only if it was in.
type verdict struct {
	why    string
	err    wire.Err
	reason CloseReason
}

// Why somebody is refused whose connection is of a type that the user may not have, who is not to be connected now, and who had to
// come through a trusted proxy.
const (
	typeText   = "the user may not use this type of connection"
	timesText  = "Outside connect times"
	directText = "the user must connect through a trusted proxy"
)

// refused makes a verdict without more to tell.
func refused(why string) *verdict {
	return &verdict{why: why, err: wire.ErrAuthorization, reason: ReasonAuthFailed}
}

// notice is refused for what whoever runs the server should know, and not only while debugging.
func (e *Engine) notice(c *conn, why string) *verdict {
	e.complain(c, why)
	return refused(why)
}

// judge holds a user's JWT against its account's, for a connection, at this moment. It returns the user, or why there is none.
func (e *Engine) judge(c *conn, u *claims.User, ch *charter) (*user, *verdict) {
	now, a := e.seconds(), ch.claims
	switch {
	case e.ended(ch):
		return nil, &verdict{"the account's JWT has expired", wire.ErrAccountExpired, ReasonAuthExpired}
	case a.Early(now):
		return nil, refused("the account's JWT is not valid yet")
	case u.Early(now):
		return nil, refused("the user's JWT is not valid yet")
	case u.Expired(now):
		return nil, &verdict{"the user's JWT has expired", wire.ErrUserExpired, ReasonAuthExpired}
	case a.Revokes(u.Key, u.IssuedAt):
		return nil, &verdict{"the user's JWT was revoked", wire.ErrUserRevoked, ReasonAuthRevoked}
	}
	scope, signs := a.Signs(u.Issuer)
	switch {
	case !signs:
		return nil, refused("the user's JWT was not signed by its account")
	case e.trust.strict(a.Issuer) && u.Issuer == u.Account:
		return nil, refused("the user's JWT was not signed with a signing key, as the operator demands")
	case scope != nil && !u.Empty:
		return nil, refused("scoped users require no permissions or limits set")
	}
	p := u.Powers
	spec := p.Permissions
	if scope != nil {
		p, spec = scope, scope.Permissions
		if spec != nil {
			filled, err := claims.Fill(spec, u, a)
			if err != nil {
				return nil, refused(err.Error())
			}
			spec = filled
		}
	}
	if spec == nil {
		spec = a.Defaults
	}
	if a.Callout != nil {
		spec = withheld(spec)
	}
	if p.Bearer && a.NoBearer {
		return nil, refused("the account does not allow bearer tokens")
	}
	who, v := e.empower(c, u, p, spec)
	if v != nil {
		return nil, v
	}
	who.account, who.under, who.barred = ch.account, a, a.Callout != nil
	return who, nil
}

// empower makes the user that a JWT describes, whose powers are p, if it may connect as the connection does.
func (e *Engine) empower(c *conn, u *claims.User, p *claims.Powers, spec *permission.Spec) (*user, *verdict) {
	ends, in := e.within(p)
	switch {
	case len(p.Types) > 0 && !slices.Contains(p.Types, connectionType):
		return nil, refused(typeText)
	case !p.From(c.ip):
		return nil, e.notice(c, "Bad src Ip "+c.ip)
	case !in:
		return nil, e.notice(c, timesText)
	case p.ProxyRequired && c.proxy == "":
		return nil, direct()
	}
	who := &user{name: u.Key, jwt: u, powers: p, types: p.Types, expires: wallOf(u.Expires)}
	if ends > 0 && (who.expires == 0 || ends < who.expires) {
		who.expires = ends
	}
	if spec != nil {
		set, err := permission.Compile(*spec)
		if err != nil {
			return nil, refused("permissions: " + err.Error())
		}
		who.perms = set
	}
	return who, nil
}

// within reports whether it is a time of the day at which a user with these powers may be connected, and until when; 0: for
// good.
func (e *Engine) within(p *claims.Powers) (ends WallTime, in bool) {
	zone := time.UTC
	if p.Zone != "" {
		if zone = nil; e.env.Zones != nil {
			zone = e.env.Zones.Zone(p.Zone)
		}
		if zone == nil {
			return 0, false // even to who may be connected at any time: the JWT is not right
		}
	}
	if len(p.Windows) == 0 {
		return 0, true
	}
	end, in := claims.Within(p.Windows, time.Unix(0, int64(e.wall)).In(zone))
	return WallTime(end.UnixNano()), in
}

// rejudge holds a connection that is in by a JWT against what is in force now.
func (e *Engine) rejudge(c *conn) {
	u := c.user
	if e.trust == nil || u == nil || u.under == nil {
		return
	}
	ch := e.trust.charters[u.account.name]
	if ch != nil && ch.claims == u.under && !e.ended(ch) {
		return
	}
	if ch == nil {
		e.expel(c, wire.ErrAccountExpired, ReasonAuthExpired)
		return
	}
	who, v := e.judge(c, u.jwt, ch)
	if v != nil {
		e.expel(c, v.err, v.reason)
		return
	}
	if u.answered {
		e.answeredFor(c, who)
	}
	e.become(c, who)
	if len(c.subs) > c.subsMax {
		e.protocolError(c, wire.ErrMaxSubscriptions, ReasonMaxSubs)
	}
}
