package host

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/internal/durable"
)

// vault keeps account JWTs in a directory. One goroutine carries out what the engine asks for, in that order, while there is
// something to do; JWTs that are to be stored, with nothing between but some that are read, together.
type vault struct {
	s   *Server
	dir string

	mu      sync.Mutex
	queue   []vaultOp
	working bool
	idle    sync.WaitGroup // nothing is being carried out

	done []vaultResult // that the engine is to be told of, in order; while there are any, tell is posted

	kept map[string][sha256.Size]byte // JWTs that were stored, by account, and not removed since; only work uses it
}

// vaultOp is something to do: run, or, where that is nil, to store an account's JWT. account is empty of what is neither that nor
// to read one.
type vaultOp struct {
	id            engine.VaultID
	run           func() engine.VaultResult
	account, text string
}

// vaultResult is what came of something.
type vaultResult struct {
	id     engine.VaultID
	result engine.VaultResult
}

// storesMax is how many JWTs are stored together.
const storesMax = 256

// vaultEndWait is how long the end of the server waits for what it had asked of the directory, which nobody was told of yet.
const vaultEndWait = 5 * time.Second

// finish waits until all is carried out that was asked for; the engine asks for nothing more.
func (v *vault) finish() {
	done := make(chan struct{})
	go func() {
		v.idle.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(vaultEndWait):
	}
}

const (
	vaultEnd     = ".jwt"
	vaultDeleted = ".deleted"
)

// do has something done behind what was asked for before, and its result told.
func (v *vault) do(op vaultOp) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.queue = append(v.queue, op)
	if !v.working {
		v.working = true
		v.idle.Go(v.work)
	}
}

func (v *vault) work() {
	for {
		ops := v.take()
		if len(ops) == 0 {
			return
		}
		v.report(ops, v.carryOut(ops))
	}
}

// carryOut does what take has returned: first, where there are JWTs to be stored, what is to be read that none of these is.
func (v *vault) carryOut(ops []vaultOp) []engine.VaultResult {
	results := make([]engine.VaultResult, len(ops))
	stored := make(map[string]bool)
	var stores []vaultOp
	var at, after []int // in ops: of stores, and of what is to be read when these are done
	for i, op := range ops {
		switch {
		case op.run == nil:
			stores, at = append(stores, op), append(at, i)
			stored[op.account] = true
		case stored[op.account]:
			after = append(after, i)
		default:
			results[i] = op.run()
		}
	}
	if len(stores) > 0 {
		for i, r := range v.store(stores) {
			results[at[i]] = r
		}
	}
	for _, i := range after {
		results[i] = ops[i].run()
	}
	return results
}

// report has the engine told of results, behind those it was not told of yet.
func (v *vault) report(ops []vaultOp, results []engine.VaultResult) {
	v.mu.Lock()
	defer v.mu.Unlock()
	first := len(v.done) == 0
	for i, op := range ops {
		v.done = append(v.done, vaultResult{op.id, results[i]})
	}
	if first {
		v.s.post(v.tell)
	}
}

// tell tells the engine of results, until its turn is full; of the others in the next.
func (v *vault) tell(e *engine.Engine) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for ; n < len(v.done) && (n == 0 || !e.TurnFull()); n++ {
		x := v.done[n]
		v.mu.Unlock() // the engine asks for more
		e.VaultDone(x.id, x.result)
		v.mu.Lock()
	}
	if v.done = v.done[n:]; len(v.done) > 0 {
		v.s.post(v.tell)
	} else {
		v.done = nil
	}
}

// take is what to do next: one thing, or JWTs that are to be stored or read. Nothing ends work.
func (v *vault) take() []vaultOp {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for n < min(len(v.queue), storesMax) && v.queue[n].account != "" {
		n++
	}
	if n == 0 && len(v.queue) > 0 {
		n = 1
	}
	ops := v.queue[:n:n]
	v.queue = v.queue[n:]
	if n == 0 {
		v.queue, v.working = nil, false
	}
	return ops
}

func result(err error) (r engine.VaultResult) {
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// accountOf is the account whose JWT a file is.
func accountOf(name string) (key string, ok bool) {
	key, ok = strings.CutSuffix(name, vaultEnd)
	return key, ok && nkeys.IsValidPublicAccountKey(key)
}

// List implements engine.Vault. The directory is made if it is not there, and rid of what was not written to its end.
func (v *vault) List(id engine.VaultID) {
	v.do(vaultOp{id: id, run: v.list})
}

func (v *vault) list() engine.VaultResult {
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return result(err)
	}
	ours := func(name string) bool { _, ok := accountOf(name); return ok }
	if err := durable.Sweep(v.dir, ours); err != nil {
		v.s.opts.Log.Log(engine.LevelWarn, "", "What was left in the directory of account JWTs stays: "+err.Error())
	}
	names, err := os.ReadDir(v.dir)
	if err != nil {
		return result(err)
	}
	var r engine.VaultResult
	for _, n := range names {
		key, ok := accountOf(n.Name())
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(v.dir, n.Name()))
		if errors.Is(err, fs.ErrNotExist) || n.IsDir() {
			continue
		}
		if err != nil { // it is there all the same: the preloaded JWT must not take its place
			v.s.opts.Log.Log(engine.LevelError, "", "A JWT in the directory of account JWTs can't be read: "+err.Error())
		}
		r.Entries = append(r.Entries, engine.VaultEntry{Account: key, SHA256: sha256.Sum256(text)})
	}
	return r
}

// Load implements engine.Vault.
func (v *vault) Load(id engine.VaultID, account string) {
	v.do(vaultOp{id: id, account: account, run: func() engine.VaultResult {
		text, err := os.ReadFile(v.file(account))
		if errors.Is(err, fs.ErrNotExist) {
			return engine.VaultResult{}
		}
		r := result(err)
		r.Text = string(text)
		return r
	}})
}

func (v *vault) file(account string) string { return filepath.Join(v.dir, account+vaultEnd) }

// Store implements engine.Vault.
func (v *vault) Store(id engine.VaultID, account, text string) {
	v.do(vaultOp{id: id, account: account, text: text})
}

// store stores JWTs; of those of one account the last, which then stands for all of them.
func (v *vault) store(ops []vaultOp) []engine.VaultResult {
	last := make(map[string]int, len(ops))
	for i, op := range ops {
		last[op.account] = i
	}
	var files []durable.File
	var at []int // in ops, of each file
	results := make([]engine.VaultResult, len(ops))
	for i, op := range ops {
		if last[op.account] == i && !v.has(op.account, op.text) {
			files = append(files, durable.File{Name: op.account + vaultEnd, Text: op.text})
			at = append(at, i)
		}
	}
	for i, err := range durable.ReplaceAll(v.dir, 0o644, files) {
		op := ops[at[i]]
		if results[at[i]] = result(err); err != nil {
			delete(v.kept, op.account)
		} else {
			v.keeps(op.account, op.text)
		}
	}
	for i, op := range ops {
		results[i] = results[last[op.account]]
	}
	return results
}

func (v *vault) keeps(account, text string) {
	if v.kept == nil {
		v.kept = make(map[string][sha256.Size]byte)
	}
	v.kept[account] = sha256.Sum256([]byte(text))
}

// has reports whether a JWT was stored already, and nobody has touched it since. Administrators send all that they have.
func (v *vault) has(account, text string) bool {
	if sum, there := v.kept[account]; !there || sum != sha256.Sum256([]byte(text)) {
		return false
	}
	found, err := os.ReadFile(v.file(account))
	now := time.Now()
	return err == nil && string(found) == text && os.Chtimes(v.file(account), now, now) == nil
}

// Remove implements engine.Vault.
func (v *vault) Remove(id engine.VaultID, account string, keep bool) {
	v.do(vaultOp{id: id, run: func() engine.VaultResult {
		delete(v.kept, account)
		var err error
		if keep {
			err = os.Rename(v.file(account), v.file(account)+vaultDeleted)
		} else {
			err = os.Remove(v.file(account))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		case err == nil:
			err = durable.SyncDir(v.dir)
		}
		return result(err)
	}})
}
