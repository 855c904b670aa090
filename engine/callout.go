package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/permission"
	"github.com/natsd/natsd/wire"
)

// Auth callout: a service that listens in an account decides who clients are. The server asks it on calloutSubject with a JWT
// that it signs, and makes up a user key for the one question; the answer is a JWT with the JWT of a user with that key. The
// first answer on the question's own reply subject counts, whatever it is.

const (
	calloutSubject = "$SYS.REQ.USER.AUTH"
	xkeyHeader     = "Nats-Server-Xkey"
	encryptNonce   = 24 // bytes that nobody uses twice
)

// keys are what the server proves itself by.
type keys struct{ sign, curve nkeys.KeyPair }

// inquiry is a question about a client.
type inquiry struct {
	login   *login
	account *account     // where the service is
	charter *charter     // of that account; nil in a configuration without operators
	xkey    string       // of the service; empty: nothing is encrypted
	asked   *claims.User // whom the client's JWT, or the default sentinel, is for; nil in a configuration without operators
	user    string       // the public key that is made up for the question
	inbox   string       // the last token of the reply subject; empty: nothing is expected
}

// checkCallout says what is wrong with auth callout, and with the choice of the server's own account.
func checkCallout(o *Options, users map[string]bool, wrong func(config.Pos, string, ...any)) {
	there := func(name string) bool {
		return name == globalAccount || name == systemAccount ||
			slices.ContainsFunc(o.Accounts, func(a config.Account) bool { return a.Name == name })
	}
	if o.operatorMode() {
		if x := o.Callout; x != nil {
			wrong(x.Pos, "auth_callout: in operator mode the JWTs of accounts say who asks a service")
		}
		return
	}
	if o.Operators != nil {
		if s := o.Operators.SystemAccount; s.Text != "" && !there(s.Text) {
			wrong(s.Pos, "system_account: there is no account %q", s.Text)
		}
	}
	x := o.Callout
	if x == nil {
		return
	}
	if x.Account != "" && !there(x.Account) {
		wrong(x.Pos, "auth_callout: there is no account %q", x.Account)
	}
	for _, u := range x.Users {
		if !users[u] && u != o.User {
			wrong(x.Pos, "auth_callout: there is no user %q", u)
		}
	}
	for _, a := range x.AllowedAccounts {
		if !there(a) {
			wrong(x.Pos, "auth_callout: there is no account %q among allowed_accounts", a)
		}
	}
}

// asksIn reports whether the service that the configuration names listens in an account.
func (o *Options) asksIn(account string) bool {
	return o.Callout != nil && cmp.Or(o.Callout.Account, globalAccount) == account
}

// withheld is spec, which may be nil, for a user of the account in which a service decides who clients are. Nobody there may
// question it in the server's place: it would let in whom it is told of, or tell which passwords are right.
func withheld(spec *permission.Spec) *permission.Spec {
	var s permission.Spec
	if spec != nil {
		s = *spec
	}
	s.Publish.Deny = append(slices.Clip(s.Publish.Deny), calloutSubject)
	return &s
}

// withholds reports whether a message of the user would be a question to the service, or have others send it one by their answers.
// No permission to answer allows that.
func (u *user) withholds(subj []byte) bool {
	return len(subj) == len(calloutSubject) && u != nil && u.barred && string(subj) == calloutSubject
}

// lets reports whether a user is let in by its JWT, and not by the service.
func lets(x *claims.Callout, user string) bool { return slices.Contains(x.Users, user) }

// delegated reports whether a service decides about the client, in a configuration without operators, whatever the client may
// prove. who is whom the credentials name; nil: nobody. With a list of accounts the configuration decides about users of others who
// prove who they are, and about nobody else; those without an account by name are not in another one.
func (e *Engine) delegated(c *conn, who *user) bool {
	x := e.opts.Callout
	if x == nil || e.serves(c) {
		return false
	}
	return len(x.AllowedAccounts) == 0 || who == nil || who.account == e.global || slices.Contains(x.AllowedAccounts, who.account.name)
}

// serves reports whether the client claims to be one of those that the service connects as: it is not asked about itself.
func (e *Engine) serves(c *conn) bool {
	name := c.connect.User
	if c.connect.Nkey != "" {
		name = c.connect.Nkey
	}
	return name != "" && slices.Contains(e.opts.Callout.Users, name)
}

// callout asks the service that the configuration names about a client. Whom the configuration lets in through a proxy only, the
// service can't let in without.
func (e *Engine) callout(c *conn, answer bool) {
	if e.lacksProxy(c, e.configuredAs(c)) {
		v := direct()
		e.explain(c, v.why)
		e.violates(c, v.reason)
		return
	}
	x := e.opts.Callout
	l := &login{answer: answer}
	e.beginLogin(c, l)
	e.consult(c, l, e.calloutAccount(), nil, x.XKey, x.Issuer)
}

// configuredAs is the user of the configuration whom a client names, whether it proves that or not; nil: none.
func (e *Engine) configuredAs(c *conn) *user {
	if e.users.mapped {
		return e.certified(c)
	}
	return e.users.claimed(&c.connect)
}

// calloutAccount is the account in which the service that the configuration names listens.
func (e *Engine) calloutAccount() *account {
	return e.byAccount[cmp.Or(e.opts.Callout.Account, globalAccount)]
}

// sentence is a reason as the service's account is told it.
func sentence(why string) string {
	return strings.ToUpper(why[:1]) + why[1:]
}

// consult asks the service in an account about a client. issuer is the key that answers are signed for.
func (e *Engine) consult(c *conn, l *login, a *account, ch *charter, xkey, issuer string) {
	q := &inquiry{login: l, account: a, charter: ch, xkey: xkey, asked: l.user, inbox: string(e.appendID(nil, inboxTokenLen))}
	l.inquiry = q
	e.inbox(a)
	e.inboxes[q.inbox] = q
	w := &composing{inquiry: q, keys: e.keys}
	w.request = e.describe(c, l, xkey)
	w.request.Subject, w.tls = issuer, c.tlsInfo
	for i := 0; i < len(w.random); i += 8 {
		binary.LittleEndian.PutUint64(w.random[i:], e.secrets.Uint64())
	}
	e.toil(l, w)
}

// describe says what the service learns about a client.
func (e *Engine) describe(c *conn, l *login, xkey string) (r claims.Request) {
	o := &c.connect
	now := e.seconds()
	r.Issued, r.Expires = now, now+int64((max(e.opts.AuthTimeout, 0)+time.Second-1)/time.Second)
	r.Server = jwt.ServerID{Name: e.info.ServerName, Host: e.info.Host, ID: e.info.ServerID, Version: NatsVersion}
	if xkey != "" {
		r.Server.XKey = e.info.XKey
	}
	r.ClientInformation = jwt.ClientInformation{Host: c.ip, ID: c.cid, User: o.User, Name: o.Name, Kind: "Client", Type: "nats"}
	switch {
	case o.Nkey != "":
		r.ClientInformation.User = o.Nkey
	case o.User != "":
	case l.user != nil:
		r.ClientInformation.User = l.user.Key
	case o.Token != "":
		r.ClientInformation.User = redacted
	}
	if l.user != nil {
		r.ClientInformation.NameTag, r.ClientInformation.Tags = l.user.Label, l.user.Tags
	}
	if o.Sig != "" {
		r.ClientInformation.Nonce = c.nonce
	}
	r.ConnectOptions = jwt.ConnectOptions{
		JWT: l.text, Nkey: o.Nkey, SignedNonce: o.Sig, Token: o.Token, Username: o.User, Password: o.Pass,
		Name: o.Name, Lang: o.Lang, Version: o.Version, Protocol: o.Protocol,
	}
	return r
}

// told is what the service learns of a connection's TLS: the chains that verify the client's certificate, or, where there are none,
// the certificates that it has sent.
func (t *TLSInfo) told() *jwt.ClientTLS {
	if t == nil {
		return nil
	}
	encode := func(der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	v := &jwt.ClientTLS{Version: t.Version, Cipher: t.CipherSuite}
	for _, chain := range t.Chains {
		var texts jwt.StringList
		for _, der := range chain {
			texts = append(texts, encode(der))
		}
		v.VerifiedChains = append(v.VerifiedChains, texts)
	}
	if len(t.Chains) == 0 {
		for i := range t.Peer {
			v.Certs = append(v.Certs, encode(t.Peer[i].Raw))
		}
	}
	return v
}

// composing is a job: it makes up the user key, signs the question and encrypts it.
type composing struct {
	inquiry *inquiry
	request claims.Request
	tls     *TLSInfo
	keys    keys
	random  [32 + encryptNonce]byte

	user   string
	header []byte
	body   []byte
	err    error
}

func (w *composing) run() {
	w.user = publicKey(nkeys.PrefixByteUser, w.random[:32])
	w.request.UserNkey, w.request.TLS = w.user, w.tls.told()
	text, err := claims.EncodeRequest(&w.request, w.keys.sign)
	if err != nil {
		w.err = err
		return
	}
	if w.body = []byte(text); w.inquiry.xkey == "" {
		return
	}
	w.body, w.err = w.keys.curve.SealWithRand(w.body, w.inquiry.xkey, bytes.NewReader(w.random[32:]))
	w.header = []byte(wire.HeaderLine + "\r\n" + xkeyHeader + ": " + w.request.Server.XKey + "\r\n\r\n")
}

func (w *composing) done(e *Engine) {
	q := w.inquiry
	q.login.working = false
	c := q.login.here(e)
	if c == nil || q.inbox == "" {
		return
	}
	if w.err != nil {
		e.refuseLogin(c, "auth callout: "+w.err.Error())
		return
	}
	q.user = w.user
	c.authEnd = later(e.now, e.opts.AuthTimeout) // from here on the service is waited for, however long it took to get here
	e.arm(c)
	e.publishOwn(q.account, calloutSubject, q.account.inboxPrefix+q.inbox, w.header, w.body)
}

// answered takes the first answer.
func (q *inquiry) answered(e *Engine, k *call) {
	e.endInbox(&q.inbox)
	e.toil(q.login, &verifying{inquiry: q, body: k.body, keys: e.keys})
}

// verifying is a job: it decrypts an answer, and verifies its signature and that of the user's JWT in it.
type verifying struct {
	inquiry *inquiry
	body    []byte
	keys    keys

	response *claims.Response
	user     *claims.User
	err      error
}

func (w *verifying) run() {
	text := w.body
	if w.inquiry.xkey != "" && !isJWT(string(text)) {
		var err error
		if text, err = w.keys.curve.Open(text, w.inquiry.xkey); err != nil {
			w.err = fmt.Errorf("error decrypting auth callout response on account %q: %w", w.inquiry.account.name, err)
			return
		}
	}
	if len(text) == 0 {
		w.err = fmt.Errorf("auth callout violation: \"no reason supplied\" on account %q", w.inquiry.account.name)
		return
	}
	if w.response, w.err = claims.DecodeResponse(string(text)); w.err != nil || w.response.User == "" {
		return
	}
	w.user, w.err = claims.DecodeUser(w.response.User)
	if what := (claims.Issues)(nil); errors.As(w.err, &what) {
		w.err = fmt.Errorf("error validating user JWT: %w", what)
	}
}

func (w *verifying) done(e *Engine) {
	q := w.inquiry
	q.login.working = false
	c := q.login.here(e)
	if c == nil || q.login.inquiry != q {
		return
	}
	if why := e.weigh(q, w); why != "" {
		e.complainAt(LevelWarn, c, "Auth callout on account "+strconv.Quote(q.account.name)+": "+printable([]byte(why)))
		e.refuseLogin(c, why)
		return
	}
	if q.charter == nil {
		e.placeConfigured(c, q, w.user)
		return
	}
	if s := e.seekWanting(w.user.Account); s != nil {
		q.login.user, q.login.placed = w.user, true
		q.login.wait(s)
		return
	}
	e.placeChartered(c, q.login, w.user)
}

// weigh says why an answer does not count, or why it lets nobody in; empty: it names a user.
func (e *Engine) weigh(q *inquiry, w *verifying) string {
	r, u := w.response, w.user
	if w.err != nil {
		return w.err.Error()
	}
	now := e.seconds()
	issued := func(by string) bool {
		if q.charter == nil {
			return e.opts.Callout != nil && by == e.opts.Callout.Issuer
		}
		_, signs := q.charter.claims.Signs(by)
		return signs
	}
	switch {
	case r.Audience != e.info.ServerID:
		return "auth callout response is not for server"
	case r.Subject != q.user:
		return "Auth callout violation: auth callout response is not for expected user"
	case !issued(r.Issuer):
		return "Auth callout signing key is unknown"
	case q.charter != nil && r.Account != "" && r.Account != q.account.name:
		return "Auth callout response is of another account"
	case !r.Current(now):
		return "Authorization response had validation errors: " + outOfTime(&r.Span, now)
	case r.Error != "":
		return "Auth callout service returned an error: " + r.Error
	case u.Key != q.user:
		return "Expected authorized user of " + strconv.Quote(q.user) + " but got " + strconv.Quote(u.Key) + " on account " + strconv.Quote(q.account.name)
	case q.charter == nil && !issued(u.Issuer):
		return "Wrong issuer for auth callout response on account " + strconv.Quote(q.account.name) + ", expected " + strconv.Quote(e.opts.Callout.Issuer) + " got " + strconv.Quote(u.Issuer)
	case q.charter == nil && u.ForOther: // there is none that could have let the issuer sign for it
		return "Error non operator mode account " + strconv.Quote(q.account.name) + ": attempted to use issuer_account"
	case !u.Current(now):
		return "Error validating user JWT: " + outOfTime(&u.Span, now)
	}
	if q.charter != nil {
		x := q.charter.claims.Callout
		if x == nil || u.Account != q.account.name && !slices.Contains(x.Accounts, u.Account) && !slices.Contains(x.Accounts, jwt.AnyAccount) {
			return "Account " + strconv.Quote(u.Account) + " not permitted as valid account option for auth callout"
		}
	}
	return ""
}

// outOfTime says why what a JWT says does not count at this moment, in nats-server's words.
func outOfTime(s *claims.Span, now int64) string {
	if s.Early(now) {
		return "claim is not yet valid"
	}
	return "claim is expired"
}

// words say to the service's account why somebody can't be let in whom the service names; why is what the log says.
func (q *inquiry) words(why string) string {
	who := "Authorized user on account " + strconv.Quote(q.account.name)
	switch why {
	case typeText:
		return who + " not allowed to use connection type"
	case timesText:
		return who + " outside of valid connect times"
	case directText:
		return "Proxy connection required"
	}
	return sentence(why)
}

// spurn turns a client away whom the service has named: the user can't be connected so.
func (e *Engine) spurn(c *conn, v *verdict) {
	q := c.login.inquiry
	e.complainAt(LevelWarn, c, "Auth callout on account "+strconv.Quote(q.account.name)+": "+printable([]byte(v.why)))
	e.refuseAs(c, v)
}

// placeConfigured lets in whom the service names, in the account that the user's JWT is for.
func (e *Engine) placeConfigured(c *conn, q *inquiry, u *claims.User) {
	name := u.Audience
	if !e.configured(name) {
		why := "No valid account " + strconv.Quote(name) + " for auth callout response on account " + strconv.Quote(q.account.name) + ": account missing"
		e.complainAt(LevelWarn, c, printable([]byte(why)))
		e.refuseLogin(c, why)
		return
	}
	who, v := e.empowerIn(c, u, name)
	if v != nil {
		e.spurn(c, v)
		return
	}
	e.endWith(c, q.login, who)
}

// empowerIn makes the user whom a service lets into an account of the configuration.
func (e *Engine) empowerIn(c *conn, u *claims.User, account string) (*user, *verdict) {
	spec, barred := u.Powers.Permissions, e.opts.asksIn(account)
	if barred {
		spec = withheld(spec)
	}
	who, v := e.empower(c, u, u.Powers, spec)
	if v == nil {
		who.account, who.barred = e.byAccount[account], barred
		e.answeredFor(c, who)
	}
	return who, v
}

// answeredFor makes the user one whom a service has let in. Its key was made up for one question and tells nobody anything: it is
// known by the name that the service gives it, else by what the client has shown, or is where it shows nothing.
func (e *Engine) answeredFor(c *conn, u *user) {
	u.answered = true
	o, guest := &c.connect, e.users.noAuth
	switch name := cmp.Or(u.jwt.Label, o.User, o.Nkey); {
	case name != "":
		u.name = name
	case u.under != nil: // there is no other name where JWTs say who clients are
	case o.Token != "":
		u.name = redacted
	case guest != nil && !e.users.guests && bare(o):
		u.name = guest.name
	default:
		u.name = ""
	}
}

// placeChartered is the same in operator mode.
func (e *Engine) placeChartered(c *conn, l *login, u *claims.User) {
	ch := e.trust.charters[u.Account]
	if ch == nil {
		e.refuseLogin(c, "Account JWT lookup failed for "+u.Account)
		return
	}
	who, v := e.judge(c, u, ch)
	if v != nil {
		e.spurn(c, v)
		return
	}
	e.answeredFor(c, who)
	e.endWith(c, l, who)
}

// configured reports whether the configuration has an account; accounts that a reload took away are still there.
func (e *Engine) configured(name string) bool {
	return name == globalAccount || name == e.system.name ||
		slices.ContainsFunc(e.opts.Accounts, func(a config.Account) bool { return a.Name == name })
}

// keepAnswered reports whether a client that a service let in stays who it is after a reload.
func (e *Engine) keepAnswered(c *conn) bool {
	u := c.user
	if u == nil || !u.answered || e.opts.Callout == nil || u.jwt == nil || u.jwt.Issuer != e.opts.Callout.Issuer || !e.configured(u.account.name) ||
		e.lacksProxy(c, e.configuredAs(c)) {
		return false
	}
	who, v := e.empowerIn(c, u.jwt, u.account.name)
	if v == nil && who.barred != u.barred {
		e.become(c, who)
	}
	return v == nil
}
