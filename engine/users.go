package engine

import (
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/wire"
)

// user is who a connection may be: what it proves it by, and what it may do then.
type user struct {
	name          string // or its public key
	account       *account
	password      string          // plain, or a bcrypt hash
	perms         *permission.Set // nil: it may do everything
	types         []string        // of connections; none: any
	powers        *claims.Powers  // that its JWT gives it, or a scoped signing key; nil: it has no JWT
	jwt           *claims.User    // nil: it has none
	under         *claims.Account // by which its JWT was judged; nil in a configuration without operators
	expires       WallTime        // when it is no longer who it is; 0: never
	answered      bool            // a service said who it is
	barred        bool            // the service that decides about clients is in its account
	proxyRequired bool
	nkey          bool      // it is a key that proves it
	pub, sub      *verdicts // what perms said lately
	unproved      bool      // it is what clients are that prove nothing
	moved         *account  // where reloads have moved it; nil: it is gone, or in force
}

// may is what the user is allowed to do; nil: everything.
func (u *user) may() *permission.Set {
	if u == nil {
		return nil
	}
	return u.perms
}

// nameIn is the user's name, also of nil.
func (u *user) nameIn() string {
	if u == nil {
		return ""
	}
	return u.name
}

// directory is everybody who may connect.
type directory struct {
	byName map[string]*user
	byNkey map[string]*user
	byDN   map[string]*user // of those in byName whose names are distinguished names
	token  *user            // who shows the token; nil: there is none
	noAuth *user            // who shows nothing; nil: nobody may
	guests bool             // noAuth is none of those in the configuration: INFO asks for credentials all the same
	decoy  string
	// mapped says that certificates say who clients are, as names in a list of users.
	mapped bool
	// elsewhere says that JWTs, or a service, say who clients are.
	elsewhere bool
}

// required reports whether there is anything to prove at all.
func (d *directory) required() bool {
	return d.elsewhere || d.guests || d.token != nil || len(d.byName) > 0 || len(d.byNkey) > 0
}

// bare reports whether a CONNECT shows nothing of who sent it.
func bare(o *wire.Connect) bool { return o.User == "" && o.Pass == "" && o.Token == "" && o.Nkey == "" }

// claimed is whom the credentials of a CONNECT name, right or wrong; nil: nobody.
func (d *directory) claimed(o *wire.Connect) *user {
	switch {
	case bare(o):
		return d.noAuth
	case o.Nkey != "":
		return d.byNkey[o.Nkey]
	case d.asksToken(o):
		return d.token
	}
	return d.byName[o.User]
}

// asksToken reports whether a client that shows no key has to show the token: not one that names a user where there are users too.
func (d *directory) asksToken(o *wire.Connect) bool {
	return d.token != nil && (o.User == "" || len(d.byName) == 0)
}

// same finds the user that one of an earlier directory still is, with the same password or key; nil if there is none.
func (d *directory) same(u *user) *user {
	if u != nil && u.answered {
		return nil // it has a name, and shown nothing that goes with it
	}
	if u == nil || u.unproved {
		if u != nil && d.noAuth != nil && d.noAuth.name == u.name {
			return d.noAuth
		}
		return nil
	}
	for _, v := range [...]*user{d.byName[u.name], d.byNkey[u.name], d.token} {
		if v != nil && v.name == u.name && v.password == u.password && v.nkey == u.nkey {
			return v
		}
	}
	return nil
}

// CheckUsers returns everything that is wrong with the users of a configuration and of its accounts, each a *conf.Error.
func CheckUsers(o *Options) []error {
	_, problems := draftUsers(o)
	return problems
}

// userDraft is a user whose account is still a name.
type userDraft struct {
	user
	in string
}

func draftUsers(o *Options) (list []userDraft, problems []error) {
	wrong := func(p config.Pos, format string, args ...any) {
		problems = append(problems, conf.Errorf(p, format, args...))
	}
	names := map[string]bool{}
	add := func(in string, u *config.User, defaults *config.Permissions) {
		d := userDraft{in: in, user: user{name: u.Name, password: u.Password, types: u.ConnectionTypes, proxyRequired: u.ProxyRequired}}
		d.barred = o.asksIn(in)
		if u.NKey != "" {
			if !nkeys.IsValidPublicUserKey(u.NKey) {
				wrong(u.Pos, "%q is not a public user nkey", u.NKey)
				return
			}
			d.name, d.nkey = u.NKey, true
		}
		if names[d.name] {
			wrong(u.Pos, "Duplicate user %q detected", d.name)
			return
		}
		names[d.name] = true
		p := u.Permissions
		if p == nil {
			p = defaults
		}
		set, err := compilePermissions(p, d.barred)
		if err != nil {
			wrong(p.Pos, "permissions of user %q: %v", d.name, err)
			return
		}
		d.perms = set
		list = append(list, d)
	}
	for i := range o.Users {
		add(globalAccount, &o.Users[i], o.DefaultPermissions)
	}
	for i := range o.Accounts {
		a := &o.Accounts[i]
		for j := range a.Users {
			add(a.Name, &a.Users[j], a.DefaultPermissions)
		}
	}
	checkCallout(o, names, wrong)
	if n := o.NoAuthUser.Text; n != "" && !names[n] {
		wrong(o.NoAuthUser.Pos, "no_auth_user: %q not present as user or nkey in authorization block or account configuration", n)
	}
	return list, problems
}

// compilePermissions makes p ready, which may be nil, for a user who is barred or not. Nil: the user may do everything. An error is
// about p.
func compilePermissions(p *config.Permissions, barred bool) (*permission.Set, error) {
	var spec *permission.Spec
	if p != nil {
		s := permissionSpec(p)
		spec = &s
	}
	if barred {
		spec = withheld(spec)
	}
	if spec == nil {
		return nil, nil
	}
	return permission.Compile(*spec)
}

func permissionSpec(p *config.Permissions) (s permission.Spec) {
	fill := func(l *permission.Lists, from *config.SubjectPermission) {
		if from == nil {
			return
		}
		for _, x := range from.Allow {
			l.Allow = append(l.Allow, strings.TrimSpace(x.Text+" "+x.Queue))
		}
		for _, x := range from.Deny {
			l.Deny = append(l.Deny, strings.TrimSpace(x.Text+" "+x.Queue))
		}
	}
	fill(&s.Publish, p.Publish)
	fill(&s.Subscribe, p.Subscribe)
	if r := p.AllowResponses; r != nil {
		s.Responses = &permission.ResponseLimit{Max: r.Max, Expires: int64(r.Expires)}
	}
	return s
}

// setUsers makes the directory of the options, of which list are the users. The accounts are in force already.
func (e *Engine) setUsers(list []userDraft) {
	o := &e.opts
	d := &directory{byName: make(map[string]*user), byNkey: make(map[string]*user), elsewhere: e.trust != nil || o.Callout != nil}
	d.mapped = o.TLS.Map && len(list) > 0
	for i := range list {
		u := &list[i].user
		u.account = e.byAccount[list[i].in]
		if list[i].nkey {
			d.byNkey[u.name] = u
			continue
		}
		d.byName[u.name] = u
		if dn, ok := parseDN(u.name); ok {
			if d.byDN == nil {
				d.byDN = make(map[string]*user)
			}
			if d.byDN[dn] == nil {
				d.byDN[dn] = u
			}
		}
		if d.decoy == "" && config.IsBcrypt(u.password) {
			d.decoy = u.password
		}
	}
	if o.Token != "" {
		d.token = e.globalUser("", o.Token)
	} else if o.User != "" || o.Pass != "" {
		d.byName[o.User] = e.globalUser(o.User, o.Pass)
		if config.IsBcrypt(o.Pass) {
			d.decoy = o.Pass
		}
	}
	if n := o.NoAuthUser.Text; n != "" {
		u := d.byName[n]
		if u == nil {
			u = d.byNkey[n]
		}
		unproved := *u
		unproved.unproved = true
		d.noAuth = &unproved
	}
	if o.Guests && o.User == "" && o.Pass == "" && o.Token == "" {
		if e.guestName == "" {
			e.guestName = "nats-" + e.newNonce()[:8]
		}
		d.guests, d.noAuth = true, e.globalUser(e.guestName, "")
		d.noAuth.unproved = true
	}
	e.users = d
}

// plainUser is a user of an account without permissions of its own.
func (o *Options) plainUser(name, in string) userDraft {
	d := userDraft{in: in, user: user{name: name, barred: o.asksIn(in)}}
	d.perms, _ = compilePermissions(nil, d.barred) // only what is configured can be wrong
	return d
}

// globalUser is a user in the account of those who are in none by name.
func (e *Engine) globalUser(name, password string) *user {
	u := e.opts.plainUser(name, globalAccount).user
	u.account, u.password = e.global, password
	return &u
}

// become makes a connection, or a connection that was another user, the user's.
func (e *Engine) become(c *conn, u *user) {
	a := e.global
	if u != nil {
		a = u.account
	}
	if c.user == u && c.acc == a {
		return
	}
	if c.remaking != nil {
		if e.remakeAll(c); c.gate&gateClosed != 0 {
			return
		}
	}
	same := a == c.acc && u.nameIn() == c.user.nameIn()
	if !same {
		c.told = false // as somebody else
	}
	if c.acc != a && e.full(a) {
		e.tooMany(c, a)
		return
	}
	from, grants := c.acc, c.grants
	c.user, c.memo, c.grants = u, nil, nil
	e.bind(c, a)
	e.bound(c)
	e.arm(c)
	may := u.may()
	if may != nil {
		if limit, ok := may.Responses(); ok {
			if same && grants != nil && grants.Under(limit) {
				c.grants = grants // who asked before a reload gets the answer
			} else {
				c.grants = permission.NewGrants(limit, e.secrets.Uint64())
			}
		}
	}
	if len(c.subs) > 0 {
		e.remake(c, from)
	}
}

// permit notes what the permissions in force mean for a subscription; false: it is not allowed.
func (e *Engine) permit(c *conn, s *subscription) bool {
	allowed, flags := c.judge([]byte(s.handle.Subject()), []byte(s.handle.Queue()))
	c.acc.recount(s, -1)
	s.flags = s.flags&^(subFiltered|subTracked) | flags
	c.acc.recount(s, 1)
	return allowed
}

// judge says whether the connection may have a subscription to subj, and with which flags. What has an empty token is not in an
// allow list, and not denied either; a ">" that is not the last token is one like others, as for nats-server: it is told that way
// whether what is no pattern might have been subscribed to.
func (c *conn) judge(subj, queue []byte) (allowed bool, flags subFlags) {
	may := c.user.may()
	if may == nil {
		return true, 0
	}
	if c.grants != nil {
		flags |= subTracked
	}
	if subject.HasEmptyToken(subj) { // no rule covers it
		return len(may.Spec().Subscribe.Allow) == 0, 0
	}
	switch may.CanSubscribe(subj, queue) {
	case permission.Denied:
		return false, 0
	case permission.Filtered:
		flags |= subFiltered
	case permission.Allowed:
	}
	return true, flags
}

// violation tells the client that it may not subscribe, or may no longer.
func (e *Engine) violation(c *conn, subj, queue, sid []byte) {
	e.work += answerWork
	if e.heeds(c) {
		e.complain(c, string(permission.AppendSubscribeLog(nil, subj, queue, sid)))
	}
	e.lineScratch = wire.AppendErr(e.lineScratch[:0], wire.Err(permission.AppendSubscribeViolation(nil, subj, queue)))
	e.sendBytes(c, e.lineScratch)
}

// mayStillAnswer reports whether what is published on subj is an answer that was allowed, and counted, before it was read again, and
// answers may be given still.
func (c *conn) mayStillAnswer(subj []byte) bool {
	return c.granted && c.grants != nil && !c.user.withholds(subj)
}

// mayPublish reports whether the connection may publish on subj. lasting: the next time too.
func (e *Engine) mayPublish(c *conn, subj []byte) (allowed, lasting bool) {
	if reserved(subj, c.acc == e.system) == "" || c == e.self {
		if c.user.may() == nil || c.user.canPublish(subj) {
			return true, true
		}
		if c.grants != nil && !c.user.withholds(subj) && c.grants.Use(subj, int64(e.now)) {
			return true, false
		}
	}
	e.mark(MarkPublishDenied)
	e.work += answerWork
	if e.heeds(c) {
		e.complain(c, string(permission.AppendPublishLog(nil, subj)))
	}
	e.lineScratch = wire.AppendErr(e.lineScratch[:0], wire.Err(permission.AppendPublishViolation(nil, subj)))
	e.sendBytes(c, e.lineScratch)
	return false, false
}

// replyViolation tells the client that it may not ask for answers on reply.
func (e *Engine) replyViolation(c *conn, reply []byte) {
	e.work += answerWork
	if e.heeds(c) {
		e.complain(c, "Publish Violation - Reply \""+printable(reply)+"\"")
	}
	e.lineScratch = wire.AppendErr(e.lineScratch[:0], wire.Err("Permissions Violation for Publish with Reply of \""+printable(reply)+"\""))
	e.sendBytes(c, e.lineScratch)
}
