package sim

import (
	"crypto/sha256"
	"slices"

	"github.com/nats-io/nkeys"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs in operator mode the server keeps account JWTs in a directory, and an operator tells it of some accounts again and
// again (registrar.go): what must be in force then is property_claims.go. This is the directory. What is asked of it takes its time
// and may fail; what has not ended when the process or the machine fails is carried out or not, but in its order and never by half.

// archive is the configuration of such a run.
type archive struct {
	operator, system, registrar signer
	accounts                    [archiveAccounts + 1]signer // the last is the one that may have only so much
	users                       [archiveUsers]signer        // each in every account
	expiring                    bool                        // some JWTs expire soon
	failing                     uint32                      // chance per million that an operation of the directory fails
}

const (
	archiveAccounts = 3
	archiveUsers    = 3
)

// keepArchive draws whether there is a directory of account JWTs.
func (d draw) keepArchive(c *config) {
	if c.auth != authJWT || c.trustees != nil || d.of(cfgArchive, 0, 1) != 1 {
		return
	}
	a := &archive{
		operator: newSigner(nkeys.PrefixByteOperator, 5), system: newSigner(nkeys.PrefixByteAccount, 20),
		registrar: newSigner(nkeys.PrefixByteUser, 21), failing: uint32(d.of(cfgArchiveFailing, 0, 20_000, 200_000)),
	}
	for i := range a.accounts {
		a.accounts[i] = newSigner(nkeys.PrefixByteAccount, byte(22+i))
	}
	for i := range a.users {
		a.users[i] = newSigner(nkeys.PrefixByteUser, byte(30+i))
	}
	self := a.operator.sign(token{Subject: a.operator.public, Issued: 1, Nats: map[string]any{"type": "operator", "version": 2}})
	o := &c.engine
	o.SystemAccount = settings.Located{Text: a.system.public}
	o.Operators = &settings.Operators{
		Operators: []settings.Located{{Text: jwtOperator}, {Text: self}},
		Resolver:  settings.Resolver{Kind: settings.FullResolver, Dir: "jwt", AllowDelete: true},
		Preload: []settings.PreloadedJWT{
			{Account: jwtAccountKey, JWT: jwtAccount}, {Account: a.system.public, JWT: a.account(&a.system, 1, 0, boundless, 0)},
		},
	}
	o.MaxPayload, o.MaxConnections = max(o.MaxPayload, 8<<10), 65536+numArchiveLocals
	if a.expiring = d.of(cfgArchiveExpiring, 0, 1) == 1; a.expiring {
		c.faults[faultStep], c.faults[faultFrost] = 0, 0 // when a JWT expires is read off the wall clock
	}
	c.archive = a
}

// boundless are limits that are none.
var boundless = limits{-1, -1, -1}

// account is the nth JWT of an account, which revokes the users whose bits are set, and expires then, in seconds since the Unix epoch;
// 0: never.
func (a *archive) account(key *signer, nth int64, revoked uint, l limits, expires int64) string {
	limits := map[string]any{
		"subs": l.subs, "data": -1, "payload": l.payload, "imports": -1, "exports": -1, "wildcards": true, "conn": l.conns, "leaf": -1,
	}
	revocations := make(map[string]int64)
	for i := range a.users {
		if revoked>>i&1 == 1 {
			revocations[a.users[i].public] = 2
		}
	}
	imports := []any{}
	if key != &a.system {
		imports = append(imports, map[string]any{
			"subject": "$SYS.DEBUG.SUBSCRIBERS", "account": a.system.public, "type": "service", "local_subject": probeAsks,
		})
	}
	return a.operator.sign(token{Subject: key.public, Issued: nth, Expires: expires, Nats: map[string]any{
		"limits": limits, "revocations": revocations, "imports": imports, "type": "account", "version": 2,
	}})
}

// deletion asks for an account to be deleted.
func (a *archive) deletion(key *signer) string {
	return a.operator.sign(token{Subject: a.operator.public, Issued: 1, Nats: map[string]any{"accounts": []string{key.public}}})
}

// user is the JWT that a user of an account shows.
func (a *archive) user(account, user int) string {
	u := userToken(nil)
	u.Bearer = true
	return a.accounts[account].sign(token{Subject: a.users[user].public, Issued: 1, Nats: u})
}

// mayFail reports whether operations about an account may fail: the account of all other clients and the server's own are not what this
// is about.
func (a *archive) mayFail(account string) bool {
	return account != jwtAccountKey && account != a.system.public
}

// shelf is the directory of a machine. It outlives processes.
type shelf struct {
	files    []shelved // by account
	waiting  []shelfOp // in the order in which they were asked for
	failures uint64    // so far
	done     uint64    // operations, by all processes
}

// shelved is an account's JWT in the directory.
type shelved struct {
	account, text string
}

// shelfOp is something asked of the directory.
type shelfOp struct {
	id     engine.VaultID
	nth    uint64 // of all
	kind   shelfOpKind
	fails  bool
	ripe   bool // its time is over, but another one about that account comes first
	shelf  shelved
	result engine.VaultResult
	over   bool // it was carried out, and the engine is to be told
}

type shelfOpKind uint8

const (
	shelfList shelfOpKind = iota
	shelfLoad
	shelfStore
	shelfRemove
)

// Purposes of decisions about the directory: of SimFault and SimDetail for servers.
const (
	shelfFails = 116 // whether an operation does
	shelfTakes = 117 // how long it takes
	shelfCrash = 118 // how many of those under way are carried out when the server fails
)

const shelfMin, shelfMax = 100_000, 60_000_000 // 0.1 to 60 ms

var _ engine.Vault = (*node)(nil)

// List implements engine.Vault.
func (n *node) List(id engine.VaultID) { n.askShelf(shelfOp{id: id, kind: shelfList}) }

// Load implements engine.Vault.
func (n *node) Load(id engine.VaultID, account string) {
	n.askShelf(shelfOp{id: id, kind: shelfLoad, shelf: shelved{account: account}})
}

// Store implements engine.Vault.
func (n *node) Store(id engine.VaultID, account, text string) {
	n.askShelf(shelfOp{id: id, kind: shelfStore, shelf: shelved{account, text}})
}

// Remove implements engine.Vault.
func (n *node) Remove(id engine.VaultID, account string, _ bool) {
	n.askShelf(shelfOp{id: id, kind: shelfRemove, shelf: shelved{account: account}})
}

// askShelf has an operation end after some time.
func (n *node) askShelf(op shelfOp) {
	s := &n.shelf
	n.effect(EffectVault, 0, int64(op.id))
	op.nth = s.done
	s.done++
	k := decision.Key{Kind: decision.SimFault, Actor: n.actor, Purpose: shelfFails, N: op.nth}
	op.fails = n.w.cfg.archive.mayFail(op.shelf.account) && !n.w.faults.over && n.w.source.Chance(k, n.w.cfg.archive.failing)
	k = decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: shelfTakes, N: op.nth}
	s.waiting = append(s.waiting, op)
	n.after(nodeShelf, uint64(op.id), schedule.Time(n.w.source.Range(k, shelfMin, shelfMax)))
}

// shelfEnds is the end of an operation, and of those about the same account that waited for it.
func (n *node) shelfEnds(id engine.VaultID) {
	s := &n.shelf
	at := slices.IndexFunc(s.waiting, func(op shelfOp) bool { return op.id == id })
	s.waiting[at].ripe = true
	account := s.waiting[at].shelf.account
	for i := 0; i < len(s.waiting); i++ {
		op := &s.waiting[i]
		if op.over || op.shelf.account != account {
			continue
		}
		if !op.ripe {
			return
		}
		s.carryOut(op)
		op.over = true
		n.tell(ready{kind: readyShelf, n: uint64(op.id)})
	}
}

// shelfDone tells the engine, inside a turn.
func (n *node) shelfDone(id engine.VaultID) {
	s := &n.shelf
	at := slices.IndexFunc(s.waiting, func(op shelfOp) bool { return op.id == id })
	r := s.waiting[at].result
	s.waiting = slices.Delete(s.waiting, at, at+1)
	n.w.trace.event(n.index, EventVaultDone, 0, int64(id))
	n.eng.VaultDone(id, r)
}

// carryOut does what was asked for.
func (s *shelf) carryOut(op *shelfOp) {
	if op.fails {
		s.failures++
		op.result.Err = "input/output error"
		return
	}
	at, there := slices.BinarySearchFunc(s.files, op.shelf.account, func(f shelved, account string) int {
		switch {
		case f.account < account:
			return -1
		case f.account > account:
			return 1
		}
		return 0
	})
	switch op.kind {
	case shelfList:
		for _, f := range s.files {
			op.result.Entries = append(op.result.Entries, engine.VaultEntry{Account: f.account, SHA256: sha256.Sum256([]byte(f.text))})
		}
	case shelfLoad:
		if there {
			op.result.Text = s.files[at].text
		}
	case shelfStore:
		if there {
			s.files[at] = op.shelf
		} else {
			s.files = slices.Insert(s.files, at, op.shelf)
		}
	case shelfRemove:
		if there {
			s.files = slices.Delete(s.files, at, at+1)
		}
	}
}

// has reports whether an account's JWT is there.
func (s *shelf) has(account string) bool {
	return slices.ContainsFunc(s.files, func(f shelved) bool { return f.account == account })
}

// crashShelf is the end of a process: of what was under way, some is carried out.
func (n *node) crashShelf() {
	s := &n.shelf
	var under []*shelfOp
	for i := range s.waiting {
		if !s.waiting[i].over {
			under = append(under, &s.waiting[i])
		}
	}
	if len(under) > 0 {
		k := decision.Key{Kind: decision.SimDetail, Actor: n.actor, Purpose: shelfCrash, N: n.life}
		for _, op := range under[:n.w.source.Below(k, uint64(len(under)+1))] {
			s.carryOut(op)
		}
	}
	s.waiting = s.waiting[:0]
}
