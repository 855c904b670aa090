package engine

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/config"
)

// VaultID names an operation of a Vault.
type VaultID uint64

// Vault is a directory with account JWTs, each in a file <public key>.jwt. No call blocks; each ends in one VaultDone.
// Operations on one account complete in the order in which they were asked for.
type Vault interface {
	// List tells which accounts are there.
	List(id VaultID)
	// Load reads an account's JWT. One that is not there is an empty text, not an error.
	Load(id VaultID, account string)
	// Store writes an account's JWT so that it is there whole, or as it was, whenever the machine fails.
	Store(id VaultID, account, text string)
	// Remove takes an account's JWT away, so that it stays away whenever the machine fails; keep leaves it beside, as <public
	// key>.jwt.deleted. After an error it may be there or not.
	Remove(id VaultID, account string, keep bool)
}

// VaultResult is what came of an operation.
type VaultResult struct {
	Err     string // empty: it was carried out
	Text    string // Load
	Entries []VaultEntry
}

// VaultEntry is one account of a List.
type VaultEntry struct {
	Account string
	SHA256  [sha256.Size]byte // of the JWT
}

// shelf is what is known of the vault.
type shelf struct {
	listed  bool
	obscure bool     // it could not be listed: what is there is not known
	waiting []func() // for the list
	entries map[string]*shelfEntry
	doomed  map[string]bool // accounts that are deleted, and whose JWTs could not be removed
	timer   timer           // not after the moment at which the time of the first account ends (cache)
}

// shelfEntry is an account that is in the vault, or about to be. Another one takes its place when the account has been removed.
type shelfEntry struct {
	jwt    shelved
	used   Instant  // found, read or stored last. A file's own time is no measure: the server may have been down for long
	kept   *shelved // the last one that is there; nil: none is yet
	stores int      // that were asked for so far

	keeping keeping // updates
}

// shelved is a JWT in the vault, by its hash.
type shelved [sha256.Size]byte

type vaultTaker interface {
	vaultDone(e *Engine, r VaultResult)
}

// vaultFunc is an operation that is told its outcome by a function.
type vaultFunc func(VaultResult)

func (f vaultFunc) vaultDone(_ *Engine, r VaultResult) { f(r) }

// cacheLimit is how many accounts a cache keeps where nothing is said.
const cacheLimit = 1000

// onShelf reports whether the resolver has a directory.
func (t *trust) onShelf() bool {
	return t.resolver.OnShelf()
}

// vault prepares an operation of which f is told the outcome.
func (e *Engine) vault(f vaultFunc) VaultID {
	e.vaultID++
	e.vaultOps[e.vaultID] = f
	return e.vaultID
}

// VaultDone tells what came of an operation of the Vault. Many may end together, and each may bring a JWT into force: as with what
// is received, the host heeds TurnFull.
func (e *Engine) VaultDone(id VaultID, r VaultResult) {
	e.fed = true
	op := e.vaultOps[id]
	if op == nil {
		return
	}
	delete(e.vaultOps, id)
	op.vaultDone(e, r)
}

// listShelf reads what is in the directory. What was preloaded and is not there is put there; of what is there the directory's
// is the later word.
func (e *Engine) listShelf() {
	t := e.trust
	e.env.Vault.List(e.vault(func(r VaultResult) {
		if r.Err != "" {
			e.logf(LevelError, "", "The directory of account JWTs can't be listed, what is preloaded is not stored there: "+r.Err)
			t.shelf.obscure = true
		}
		t.shelf.fill(r.Entries, e.now)
		e.timeShelf()
		e.shelveMissing(e.opts.Operators.Preload)
		for _, p := range e.opts.Operators.Preload {
			switch x := t.shelf.entries[p.Account]; {
			case x != nil && x.kept != nil:
				e.preferShelf(p.Account)
			case t.shelf.obscure:
				e.lookOnShelf(p.Account)
			}
		}
		for _, f := range t.shelf.waiting {
			f()
		}
		t.shelf.waiting = nil
	}))
}

// shelveMissing puts those JWTs into the directory whose accounts are not there. Where that is not known, others might have a later
// JWT replaced.
func (e *Engine) shelveMissing(all []config.PreloadedJWT) {
	if e.trust.shelf.obscure {
		return
	}
	for _, p := range all {
		if e.trust.shelf.entries[p.Account] == nil {
			e.shelvePreloaded(p)
		}
	}
}

// shelvePreloaded puts a preloaded JWT into the directory. An account that was deleted before comes back with it.
func (e *Engine) shelvePreloaded(p config.PreloadedJWT) {
	t := e.trust
	e.shelve(p.Account, p.JWT, func(r VaultResult) {
		if r.Err != "" {
			e.logf(LevelError, "", "The preloaded JWT of account "+p.Account+" can't be stored: "+r.Err)
		} else if ch := t.charters[p.Account]; ch != nil && ch.deleted && t.shelf.entries[p.Account] != nil {
			e.submit(&renewing{reading{key: p.Account, text: p.JWT, word: t.words.next()}})
		}
	})
}

// preferShelf has the directory's JWT of an account count in the place of the preloaded one.
func (e *Engine) preferShelf(key string) {
	delete(e.trust.texts, key)
	if e.trust.charters[key] != nil {
		e.refresh(key)
	}
}

// lookOnShelf finds out whether a preloaded account is in a directory that could not be listed.
func (e *Engine) lookOnShelf(key string) {
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		if r.Text != "" {
			e.preferShelf(key)
		}
	}), key)
}

// fill takes over a list. What was stored since it was asked for is later.
func (s *shelf) fill(list []VaultEntry, now Instant) {
	s.listed = true
	if s.entries == nil {
		s.entries = make(map[string]*shelfEntry, len(list))
	}
	for _, v := range list {
		there := shelved(v.SHA256)
		if x := s.entries[v.Account]; x == nil {
			s.entries[v.Account] = &shelfEntry{jwt: there, kept: &there, used: now}
		} else if x.kept == nil {
			x.kept = &there
		}
	}
}

// refresh reads the directory's JWT of an account that is in force already. It counts where it is newer than what is in force now,
// and that is in force still: what comes into force while the directory is read was said later.
func (e *Engine) refresh(key string) {
	ch := e.trust.charters[key]
	former := ch.claims
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		if r.Text != "" && ch.claims == former {
			e.submit(&refreshing{reading{key: key, text: r.Text}, former})
		}
	}), key)
}

// refreshing is a job: it reads a JWT that was found and may be newer than the one in force, former.
type refreshing struct {
	reading
	former *claims.Account
}

func (r *refreshing) done(e *Engine) {
	ch := e.trust.charters[r.key]
	switch why := e.unusable(&r.reading); {
	case ch == nil || ch.deleted || ch.claims != r.former:
	case why != "":
		e.keepsFormer(r.key, why)
	case r.claims.IssuedAt > r.former.IssuedAt:
		e.charter(r.claims)
	}
}

// unusable says why a JWT that was read can't come into force; empty: it can.
func (e *Engine) unusable(r *reading) string {
	if r.err != nil {
		return r.err.Error()
	}
	return e.grounds(r.claims, r.key)
}

func (e *Engine) keepsFormer(key, why string) {
	e.logf(LevelError, "", "The JWT of account "+key+" can't be used, the former stays in force: "+printable([]byte(why)))
}

// renewing is a job: it reads a JWT that a reload has brought. It counts though it may be older than the one in force.
type renewing struct{ reading }

func (r *renewing) done(e *Engine) {
	t := e.trust
	defer t.words.settled(r.word)
	if !t.sought(r.key) || t.words.overtaken(r.key, r.word) {
		return // nobody wants to know any more
	}
	if why := e.unusable(&r.reading); why != "" {
		e.keepsFormer(r.key, why)
	} else if t.words.takes(r.key, r.word) {
		e.charter(r.claims)
	}
}

// foundOnShelf notes that an account's JWT is in the directory. Others may have put it there since it was listed: whoever restores
// a directory, or copies it.
func (e *Engine) foundOnShelf(key, text string) {
	t := e.trust
	x := t.shelf.entries[key]
	if x == nil && t.shelf.listed {
		if most := t.shelfMax(); most > 0 && len(t.shelf.entries) >= most && !e.makeRoom() {
			return
		}
		there := shelved(sha256.Sum256([]byte(text)))
		x = &shelfEntry{jwt: there, kept: &there}
		t.shelf.entries[key] = x
		e.timeShelf()
	}
	if x != nil {
		x.used = e.now
	}
}

// takeFromShelf looks for an account in the directory, for a lookup. It need not have been there when that was listed.
func (e *Engine) takeFromShelf(l *lookup) {
	t := e.trust
	if x := t.shelf.entries[l.key]; t.shelf.doomed[l.key] || t.shelf.listed && x != nil && e.stale(x) {
		e.askOthers(l)
		return
	}
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		switch {
		case t.lookups[l.key] != l:
		case r.Text == "":
			if l.absent = r.Err == ""; !l.absent {
				e.logf(LevelError, "", "The JWT of account "+l.key+" can't be read: "+r.Err)
			} else if t.shelf.entries[l.key] == nil {
				t.failed.add(l.key, e.now) // whoever names an account that is none does not keep the directory busy
			}
			e.askOthers(l)
		case l.over != nil && r.Text == l.over.Text:
			t.failed.add(l.key, e.now) // nor does whoever names one that has expired
			e.askOthers(l)
		default:
			e.foundOnShelf(l.key, r.Text)
			e.read(l, r.Text, false)
		}
	}), l.key)
}

// timed is how long a cache keeps an account from its last use; 0: for as long as there is room.
func (t *trust) timed() Instant {
	if t.resolver.Kind != config.CacheResolver {
		return 0
	}
	return Instant(max(t.resolver.TTL, 0))
}

// stale reports whether a cache has kept an account for long enough.
func (e *Engine) stale(x *shelfEntry) bool {
	ttl := e.trust.timed()
	return ttl > 0 && e.now-x.used >= ttl
}

// timeShelf sees to it that what comes to a cache now goes in time. What came before goes before.
func (e *Engine) timeShelf() {
	s := &e.trust.shelf
	if ttl := e.trust.timed(); ttl > 0 && s.timer.pos == 0 {
		s.timer.who = s
		e.timers.set(&s.timer, later(e.now, time.Duration(ttl)))
	}
}

// shelfPace is the least time between two looks for accounts whose time is over. They don't count meanwhile.
const shelfPace = time.Second

// due has a cache forget the accounts whose time is over, and wait for the next one's.
func (s *shelf) due(e *Engine) {
	e.timers.remove(&s.timer)
	ttl, next := e.trust.timed(), Never
	if ttl == 0 {
		return
	}
	var over []string
	for key, x := range s.entries { //natsd:orderfree they are sorted, and the next is the least
		if e.stale(x) {
			over = append(over, key)
		} else {
			next = min(next, later(x.used, time.Duration(ttl)))
		}
	}
	slices.Sort(over)
	for _, key := range over {
		e.unshelve(key)
	}
	if s.timer.who = s; next != Never {
		next = max(next, later(e.now, shelfPace))
	}
	e.timers.set(&s.timer, next)
}

// unshelve has a cache forget an account. Where that is in force it stays so.
func (e *Engine) unshelve(key string) {
	delete(e.trust.shelf.entries, key)
	e.env.Vault.Remove(e.vault(func(VaultResult) {}), key, false)
}

// putOnShelf keeps an account's JWT in the directory, if there is one.
func (e *Engine) putOnShelf(a *claims.Account) {
	if e.trust.onShelf() {
		e.shelve(a.Rules.Name, a.Text, func(r VaultResult) {
			if r.Err != "" {
				e.logf(LevelError, "", "The JWT of account "+a.Rules.Name+" can't be stored: "+r.Err)
			}
		})
	}
}

// shelve writes an account's JWT; f is told how that went.
func (e *Engine) shelve(key, text string, f func(VaultResult)) {
	t := e.trust
	x := t.shelf.entries[key]
	if most := t.shelfMax(); x == nil && most > 0 && len(t.shelf.entries) >= most && !e.makeRoom() {
		f(VaultResult{Err: "jwt store is full"})
		return
	}
	if t.shelf.entries == nil {
		t.shelf.entries = make(map[string]*shelfEntry)
	}
	if x == nil {
		x = &shelfEntry{}
		t.shelf.entries[key] = x
	}
	t.failed.forget(key)
	j := shelved(sha256.Sum256([]byte(text)))
	x.jwt, x.used = j, e.now
	e.timeShelf()
	x.stores++
	nth := x.stores
	e.env.Vault.Store(e.vault(func(r VaultResult) {
		t.shelf.stored(key, x, nth, j, r.Err == "")
		f(r)
	}), key, text)
}

// stored notes whether a JWT is in the vault as an entry says. What could not be stored leaves what was there.
func (s *shelf) stored(key string, x *shelfEntry, nth int, j shelved, ok bool) {
	switch {
	case ok:
		x.kept = &j
		delete(s.doomed, key)
	case x.stores != nth: // the outcome of the next one will show
	case x.kept != nil:
		x.jwt = *x.kept
	case s.entries[key] == x:
		delete(s.entries, key)
	}
}

// doom has an account stay deleted though its JWT is still in the directory, until there is another.
func (s *shelf) doom(key string) {
	if s.doomed == nil {
		s.doomed = make(map[string]bool)
	}
	s.doomed[key] = true
}

// shelfMax is how many accounts the directory may hold; 0: any number.
func (t *trust) shelfMax() int {
	if t.resolver.Limit == 0 && t.resolver.Kind == config.CacheResolver {
		return cacheLimit
	}
	return max(t.resolver.Limit, 0)
}

// makeRoom has a cache forget the account that was used longest ago; it returns false for a directory that is no cache.
func (e *Engine) makeRoom() bool {
	t := e.trust
	if t.resolver.Kind != config.CacheResolver {
		return false
	}
	oldest := ""
	for _, key := range t.shelf.keys() {
		if oldest == "" || t.shelf.entries[key].used < t.shelf.entries[oldest].used {
			oldest = key
		}
	}
	e.unshelve(oldest)
	return true
}

// keys lists the accounts, in order.
func (s *shelf) keys() []string {
	all := make([]string, 0, len(s.entries))
	for key := range s.entries { //natsd:orderfree they are sorted
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// sum stands for all that is on the shelf: the exclusive or of the hashes.
func (s *shelf) sum() (all [sha256.Size]byte) {
	for _, x := range s.entries { //natsd:orderfree exclusive or does not depend on it
		for i := range all {
			all[i] ^= x.jwt[i]
		}
	}
	return all
}
