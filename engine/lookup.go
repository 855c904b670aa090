package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
)

// FetchID names a page that was asked for.
type FetchID uint64

// Web gets pages for the engine: the JWTs of a URL resolver.
type Web interface {
	// Get asks for a page. Fetched follows, unless the engine stops before. What takes longer than timeout has failed.
	Get(id FetchID, url string, timeout time.Duration)
}

// lookup is the search for an account's JWT: at hand, then in the directory or at the URL, then by asking other servers. Who
// needs the account waits for it.
type lookup struct {
	key    string
	logins []*login
	timer  timer
	read   bool            // a JWT is there, and is being read
	absent bool            // the directory has none
	former bool            // an update has been told of since: what is found may be older
	over   *claims.Account // what was in force when it began, and has expired; nil: nothing was
	inbox  string          // where an answer to a request comes; empty: none was made

	imports []*config.Import // that wait for the account, to be told of if there is none
}

// wanting reports whether an account's JWT is to be looked for: none is in force, or one that has expired and that may have been
// renewed where it came from. A memory resolver knows of no others.
func (t *trust) wanting(key string, now int64) bool {
	ch := t.charters[key]
	return ch == nil || !ch.deleted && ch.claims.Expired(now) && t.resolver.Kind != config.MemoryResolver
}

// seekWanting is seek where the account is wanting.
func (e *Engine) seekWanting(key string) *lookup {
	if !e.trust.wanting(key, e.seconds()) {
		return nil
	}
	return e.seek(key)
}

// seek looks for the JWT of an account, unless somebody does already, or it was not found just now. nil: it need not be waited
// for.
func (e *Engine) seek(key string) *lookup {
	t := e.trust
	if l := t.lookups[key]; l != nil {
		return l
	}
	if !nkeys.IsValidPublicAccountKey(key) || t.failed.has(key, e.now) {
		return nil
	}
	l := &lookup{key: key}
	if ch := t.charters[key]; ch != nil {
		l.over = ch.claims
	}
	l.timer.who = l
	t.lookups[key] = l
	e.timers.set(&l.timer, later(e.now, t.resolver.Timeout))
	switch text := t.texts[key]; {
	case text != "":
		e.read(l, text, false)
	case t.onShelf():
		e.takeFromShelf(l)
	case t.resolver.Kind == config.URLResolver:
		e.fetchID++
		e.fetches[e.fetchID] = l
		e.env.Web.Get(e.fetchID, t.resolver.URL+key, t.resolver.Timeout)
	default:
		e.notFound(l, "account missing")
	}
	if t.lookups[key] != l {
		return nil // it is not there, and that was known at once
	}
	return l
}

// seekExporter looks for the account that an import is from. Where there is none the log says so: its users are not told.
func (e *Engine) seekExporter(im *config.Import) {
	if l := e.seek(im.Account); l != nil {
		l.imports = append(l.imports, im)
	} else {
		e.noExporter(im, "account missing")
	}
}

// missed counts the lines about imports without an exporter: any number of JWTs may have any number of these.
type missed struct {
	end   Instant // of the time for which they are counted
	lines int
}

// missedLines is how many such lines there are at most in hushedSpan.
const missedLines = 100

// tellMissed logs how many imports the log was not told of, if there were any.
func (e *Engine) tellMissed() {
	m := &e.trust.missed
	if n := m.lines - missedLines; n > 0 {
		m.lines = 0
		e.logf(LevelWarn, "", strconv.Itoa(n)+" imports whose accounts can't be located were not logged")
	}
}

func (e *Engine) noExporter(im *config.Import, why string) {
	what := "stream"
	if im.Kind == config.Service {
		what = "service"
	}
	m := &e.trust.missed
	if e.now >= m.end {
		e.tellMissed()
		m.lines, m.end = 0, later(e.now, hushedSpan)
	}
	if m.lines++; m.lines > missedLines {
		return
	}
	e.logf(LevelError, "", "Can't locate account ["+printable([]byte(im.Account))+"] for import of ["+printable([]byte(im.Subject))+"] "+what+" (err="+why+")")
}

// Fetched tells what came of a Get. text is the page; why is empty, or says why there is none.
func (e *Engine) Fetched(id FetchID, text, why string) {
	l := e.fetches[id]
	delete(e.fetches, id)
	if l == nil || e.trust.lookups[l.key] != l {
		return
	}
	if why != "" {
		e.trust.failed.add(l.key, e.now)
		e.notFound(l, printable([]byte(why)))
		return
	}
	e.read(l, text, false)
}

// askOthers asks whoever serves account JWTs in the server's own account.
func (e *Engine) askOthers(l *lookup) {
	subj := "$SYS.REQ.ACCOUNT." + l.key + ".CLAIMS.LOOKUP"
	if !e.othersListen(e.system, []byte(subj)) {
		why := "account missing"
		switch {
		case l.over != nil:
			why = "its JWT has expired"
		case l.absent && l.key == e.system.name && e.trust.charters[l.key] == nil:
			e.bootstrap(l)
			return
		}
		e.notFound(l, why)
		return
	}
	l.inbox = string(e.appendID(nil, inboxTokenLen))
	e.inbox(e.system)
	e.inboxes[l.inbox] = l
	e.publishOwn(e.system, subj, e.system.inboxPrefix+l.inbox, nil, nil)
}

// bootstrap ends the search for the system account's JWT where the directory has none so far. An operator has named the account, and who
// has its key may connect and store a JWT, its own among them: else nobody could store the first one. There are no limits until then.
func (e *Engine) bootstrap(l *lookup) {
	e.logf(LevelInfo, "", "Using bootstrapping system account")
	e.charter(&claims.Account{Rules: config.Account{Name: l.key, NKey: l.key}})
	e.found(l)
}

// answered takes what another server, or whoever may publish in the system account, says is the JWT.
func (l *lookup) answered(e *Engine, k *call) {
	if e.trust.lookups[l.key] != l || len(k.body) == 0 {
		return
	}
	e.read(l, string(k.body), true)
}

// read has a JWT read that was found. What that takes, on a machine that is busy, is not the fault of those who wait: from here
// on they do so for as long as it takes. What is found is no word about the account: it was asked for at some time, and perhaps
// answered before what was said earlier counted. It counts where nothing else has come into force meanwhile.
func (e *Engine) read(l *lookup, text string, shelve bool) {
	e.timers.remove(&l.timer)
	l.read = true
	e.submit(&reading{key: l.key, text: strings.TrimSpace(text), lookup: l, shelve: shelve})
}

// due is the moment at which a lookup has taken too long.
func (l *lookup) due(e *Engine) {
	if e.trust.lookups[l.key] == l {
		e.notFound(l, "fetching jwt timed out")
	}
}

// notFound ends a lookup in vain.
func (e *Engine) notFound(l *lookup, why string) {
	e.logf(LevelWarn, "", "Account fetch failed for "+l.key+": "+why)
	for _, im := range l.imports {
		e.noExporter(im, why)
	}
	e.found(l)
}

// found ends a lookup: those who waited go on, with the account or without.
func (e *Engine) found(l *lookup) {
	delete(e.trust.lookups, l.key)
	e.endInbox(&l.inbox)
	e.timers.remove(&l.timer)
	for _, w := range l.logins {
		w.lookup = nil
		if c := w.here(e); c != nil {
			e.proceed(c, w)
		}
	}
	l.logins = nil
}

// reading is a job: it reads an account JWT and verifies its signature.
type reading struct {
	key    string // of the account; empty: whatever the JWT says
	text   string
	word   uint64  // which it is; 0: none, but something found
	lookup *lookup // that it came from; nil: from somebody who asks for an update
	update *call   // that asks; nil: nobody
	shelve bool    // keep it in the directory
	claims *claims.Account
	err    error
	defect error // of what an update says
}

func (r *reading) run() {
	if r.claims, r.err = claims.DecodeAccount(r.text); r.err == nil && r.update != nil {
		r.defect = defect(r.claims)
	}
}

func (r *reading) done(e *Engine) {
	if r.update != nil {
		e.updated(r)
		return
	}
	l := r.lookup
	if e.trust.lookups[l.key] != l {
		return
	}
	if why := e.unusable(r); why != "" {
		e.trust.failed.add(l.key, e.now)
		e.notFound(l, "its JWT can't be used: "+why)
		return
	}
	e.takeFound(l, r)
}

// takeFound ends a lookup with a JWT that was found. Where something was in force when it began, which has expired, and still is,
// it takes the place of that; but not what has expired as well, or is older.
func (e *Engine) takeFound(l *lookup, r *reading) {
	ch, late := e.trust.charters[l.key], r.claims.Expired(e.seconds())
	if late {
		e.trust.failed.add(l.key, e.now) // it is not got and verified anew each time that somebody tries
	}
	switch {
	case ch != nil && (ch.claims != l.over || ch.deleted):
	case ch != nil && late:
		e.notFound(l, "its JWT has expired")
		return
	case ch != nil && r.claims.IssuedAt < l.over.IssuedAt:
		e.trust.failed.add(l.key, e.now)
		e.notFound(l, "its JWT was issued before the one that has expired")
		return
	default:
		if late {
			e.logf(LevelWarn, "", "The JWT of account "+l.key+" has expired")
		}
		if r.shelve && !l.former {
			e.putOnShelf(r.claims)
		}
		e.charter(r.claims)
	}
	e.found(l)
}

// othersListen reports whether somebody but the server itself would get what is published on subj in an account.
func (e *Engine) othersListen(a *account, subj []byte) bool {
	here := func(s *subscription) bool { e.work++; return s.flags&subHandler == 0 && s.listening() }
	return e.mayReach(a, subj, here) || e.recast.on && e.listensBehind(a, subj, 0) || e.moves.on && e.awaited(a, subj, 0)
}
