package engine

import (
	"crypto/sha256"
	"slices"

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
	// Remove takes an account's JWT away; keep leaves it beside, as <public key>.jwt.deleted.
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
	Stored  WallTime          // when it was
}

// shelf is what is known of the vault.
type shelf struct {
	listed  bool
	entries map[string]shelfEntry
}

type shelfEntry struct {
	hash   [sha256.Size]byte
	stored WallTime
	used   Instant
}

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
	return t.resolver.Kind == config.FullResolver || t.resolver.Kind == config.CacheResolver
}

// vault prepares an operation of which f is told the outcome.
func (e *Engine) vault(f vaultFunc) VaultID {
	e.vaultID++
	e.vaultOps[e.vaultID] = f
	return e.vaultID
}

// VaultDone tells what came of an operation of the Vault.
func (e *Engine) VaultDone(id VaultID, r VaultResult) {
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
			e.logf(LevelError, "", "The directory of account JWTs can't be read: "+r.Err)
		}
		t.shelf.listed, t.shelf.entries = true, make(map[string]shelfEntry, len(r.Entries))
		for _, x := range r.Entries {
			t.shelf.entries[x.Account] = shelfEntry{hash: x.SHA256, stored: x.Stored, used: e.now}
		}
		for _, p := range e.opts.Operators.Preload {
			if _, there := t.shelf.entries[p.Account]; !there {
				e.shelve(p.Account, p.JWT, func(VaultResult) {})
				continue
			}
			delete(t.texts, p.Account)
			if t.charters[p.Account] != nil {
				e.refresh(p.Account)
			}
		}
	}))
}

// refresh reads the directory's JWT of an account that is in force already.
func (e *Engine) refresh(key string) {
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		if r.Text != "" {
			e.submit(&renewing{reading: reading{key: key, text: r.Text, word: e.trust.next()}})
		}
	}), key)
}

// renewing is a job: it reads a JWT that may be another than the one in force.
type renewing struct {
	reading
	anyway bool // it counts though it may be older
}

func (r *renewing) done(e *Engine) {
	t := e.trust
	ch, why := t.charters[r.key], ""
	if r.err != nil {
		why = r.err.Error()
	} else {
		why = e.grounds(r.claims, r.key)
	}
	switch {
	case why != "":
		e.logf(LevelError, "", "The JWT of account "+r.key+" can't be used, the former stays in force: "+printable([]byte(why)))
	case !t.sought(r.key), !r.anyway && (ch == nil || r.claims.IssuedAt <= ch.claims.IssuedAt):
	case t.takes(r.key, r.word):
		e.charter(r.claims)
	}
}

// takeFromShelf looks for an account in the directory, for a lookup.
func (e *Engine) takeFromShelf(l *lookup) {
	t := e.trust
	if x, there := t.shelf.entries[l.key]; t.shelf.listed && (!there || e.stale(x)) {
		e.askOthers(l)
		return
	}
	e.env.Vault.Load(e.vault(func(r VaultResult) {
		switch {
		case t.lookups[l.key] != l:
		case r.Text == "":
			if r.Err != "" {
				e.logf(LevelError, "", "The JWT of account "+l.key+" can't be read: "+r.Err)
			}
			e.askOthers(l)
		default:
			if x, there := t.shelf.entries[l.key]; there {
				x.used = e.now
				t.shelf.entries[l.key] = x
			}
			e.read(l, r.Text, false)
		}
	}), l.key)
}

// stale reports whether a cache has kept an account for too long.
func (e *Engine) stale(x shelfEntry) bool {
	ttl := e.trust.resolver.TTL
	return e.trust.resolver.Kind == config.CacheResolver && ttl > 0 && e.wall-x.stored > WallTime(ttl)
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
	_, there := t.shelf.entries[key]
	if most := t.shelfMax(); !there && most > 0 && len(t.shelf.entries) >= most && !e.makeRoom() {
		f(VaultResult{Err: "jwt store is full"})
		return
	}
	if t.shelf.entries == nil {
		t.shelf.entries = make(map[string]shelfEntry)
	}
	t.shelf.entries[key] = shelfEntry{hash: sha256.Sum256([]byte(text)), stored: e.wall, used: e.now}
	e.env.Vault.Store(e.vault(f), key, text)
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
	delete(t.shelf.entries, oldest)
	e.env.Vault.Remove(e.vault(func(VaultResult) {}), oldest, false)
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
			all[i] ^= x.hash[i]
		}
	}
	return all
}
