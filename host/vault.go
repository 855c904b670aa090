package host

import (
	"crypto/sha256"
	"errors"
	"io"
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
// something to do.
type vault struct {
	s   *Server
	dir string

	mu      sync.Mutex
	queue   []func()
	working bool
	idle    sync.WaitGroup // nothing is being carried out
}

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

// do has f run behind what was asked for before, and its result told.
func (v *vault) do(id engine.VaultID, f func() engine.VaultResult) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.queue = append(v.queue, func() {
		r := f()
		v.s.post(func(e *engine.Engine) { e.VaultDone(id, r) })
	})
	if !v.working {
		v.working = true
		v.idle.Go(v.work)
	}
}

func (v *vault) work() {
	for {
		v.mu.Lock()
		if len(v.queue) == 0 {
			v.queue, v.working = nil, false
			v.mu.Unlock()
			return
		}
		next := v.queue[0]
		v.queue = v.queue[1:]
		v.mu.Unlock()
		next()
	}
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
	v.do(id, func() engine.VaultResult {
		if err := os.MkdirAll(v.dir, 0o755); err != nil {
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
			if err != nil {
				return result(err)
			}
			x := engine.VaultEntry{Account: key, SHA256: sha256.Sum256(text)}
			if info, err := n.Info(); err == nil {
				x.Stored = engine.WallTime(info.ModTime().UnixNano())
			}
			r.Entries = append(r.Entries, x)
		}
		return r
	})
}

// Load implements engine.Vault.
func (v *vault) Load(id engine.VaultID, account string) {
	v.do(id, func() engine.VaultResult {
		text, err := os.ReadFile(v.file(account))
		if errors.Is(err, fs.ErrNotExist) {
			return engine.VaultResult{}
		}
		r := result(err)
		r.Text = string(text)
		return r
	})
}

func (v *vault) file(account string) string { return filepath.Join(v.dir, account+vaultEnd) }

// Store implements engine.Vault.
func (v *vault) Store(id engine.VaultID, account, text string) {
	v.do(id, func() engine.VaultResult {
		_, err := durable.Replace(v.file(account), 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		return result(err)
	})
}

// Remove implements engine.Vault.
func (v *vault) Remove(id engine.VaultID, account string, keep bool) {
	v.do(id, func() engine.VaultResult {
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
	})
}
