package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/engine"
)

const (
	aliceKey = "AAALICE"
	bobKey   = "AABOB"
)

func stores(texts ...string) (ops []vaultOp) {
	for i := 0; i < len(texts); i += 2 {
		ops = append(ops, vaultOp{id: engine.VaultID(i), account: texts[i], text: texts[i+1]})
	}
	return ops
}

// holds checks what the directory has.
func (v *vault) holds(t *testing.T, want map[string]string) {
	t.Helper()
	names, err := os.ReadDir(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(want) {
		t.Errorf("there are %v", names)
	}
	for key, text := range want {
		if b, err := os.ReadFile(v.file(key)); err != nil || string(b) != text {
			t.Errorf("%s: %q %v", key, b, err)
		}
	}
}

// JWTs that wait one behind the other are stored together: for each account the last one.
func TestJWTsAreStoredTogether(t *testing.T) {
	v := vault{dir: t.TempDir()}
	done := func(results []engine.VaultResult, n int) {
		t.Helper()
		if len(results) != n {
			t.Fatalf("%d results of %d", len(results), n)
		}
		for _, r := range results {
			if r.Err != "" {
				t.Error(r.Err)
			}
		}
	}
	done(v.store(stores(aliceKey, "1", bobKey, "2", aliceKey, "3")), 3)
	v.holds(t, map[string]string{aliceKey: "3", bobKey: "2"})
	want := map[string]string{aliceKey: "5", bobKey: "2"}
	many := stores(aliceKey, "4")
	for i := range storesMax {
		key := fmt.Sprintf("AA%d", i)
		want[key] = key
		many = append(many, stores(key, key)...)
	}
	many = append(many, stores(aliceKey, "5", bobKey, "2")...)
	done(v.store(many), storesMax+3)
	v.holds(t, want)
}

// Others than Stores are done alone, and nothing is done out of order.
func TestVaultKeepsTheOrder(t *testing.T) {
	v := vault{working: true}
	v.queue = append(stores(aliceKey, "1", bobKey, "2"), vaultOp{id: 9, run: func() engine.VaultResult { return engine.VaultResult{} }})
	v.queue = append(v.queue, vaultOp{id: 10, run: v.queue[2].run})
	for range storesMax + 1 {
		v.queue = append(v.queue, stores(aliceKey, "3")...)
	}
	for _, want := range []int{2, 1, 1, storesMax, 1, 0} {
		if n := len(v.take()); n != want {
			t.Errorf("%d are done together, want %d", n, want)
		}
	}
	if v.working {
		t.Error("somebody works on nothing")
	}
}

// A JWT that is there already is not written again, unless somebody else has touched it.
func TestJWTThatIsThereIsNotStoredAgain(t *testing.T) {
	v := vault{dir: t.TempDir()}
	if v.store(stores(aliceKey, "1")); !v.has(aliceKey, "1") || v.has(aliceKey, "2") || v.has(bobKey, "1") {
		t.Error("what is there is not known")
	}
	info, err := os.Stat(v.file(aliceKey))
	if err != nil {
		t.Fatal(err)
	}
	v.store(stores(aliceKey, "1"))
	if again, err := os.Stat(v.file(aliceKey)); err != nil || !os.SameFile(info, again) {
		t.Errorf("written again: %v", err)
	}
	for _, touch := range []func() error{
		func() error { return os.WriteFile(v.file(aliceKey), []byte("x"), 0o600) },
		func() error { return os.Remove(v.file(aliceKey)) },
	} {
		if err := touch(); err != nil {
			t.Fatal(err)
		}
		v.store(stores(aliceKey, "1"))
		v.holds(t, map[string]string{aliceKey: "1"})
	}
}

// Where the directory can't be written to, each is told so, and what was there counts as there no more than it is.
func TestJWTsThatCanNotBeStored(t *testing.T) {
	v := vault{dir: filepath.Join(t.TempDir(), "missing")}
	for _, r := range v.store(stores(aliceKey, "1", aliceKey, "2", bobKey, "3")) {
		if r.Err == "" {
			t.Error("stored in a directory that is not there")
		}
	}
	if v.has(aliceKey, "2") {
		t.Error("what is not there counts as there")
	}
	if err := os.Mkdir(v.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(v.file(bobKey), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, r := range v.store(stores(aliceKey, "1", bobKey, "2", aliceKey, "3", bobKey, "4")) {
		if (r.Err != "") != (i%2 == 1) {
			t.Errorf("%d: %q", i, r.Err)
		}
	}
}

// A file that can't be read is listed: it is there. The others are not lost for it, and the log says so.
func TestListWithAFileThatCanNotBeRead(t *testing.T) {
	var said []string
	v := vault{dir: t.TempDir(), s: &Server{opts: Options{Log: logFunc(func(_ engine.Level, _, text string) { said = append(said, text) })}}}
	var keys []string
	for range 4 {
		pair, err := nkeys.CreateAccount()
		if err != nil {
			t.Fatal(err)
		}
		key, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	v.store(stores(keys[0], "1"))
	if err := os.Symlink(v.file(keys[1]), v.file(keys[1])); err != nil { // leads nowhere but to itself
		t.Skipf("there are no symbolic links: %v", err)
	}
	if err := os.Mkdir(v.file(keys[2]), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(v.file(keys[3])+"x", v.file(keys[3])); err != nil {
		t.Fatal(err)
	}
	r := v.list()
	var got []string
	for _, x := range r.Entries {
		got = append(got, x.Account)
	}
	want := keys[:2]
	slices.Sort(want)
	if r.Err != "" || !slices.Equal(got, want) {
		t.Errorf("%q: there are %q, want %q", r.Err, got, want)
	}
	if len(said) != 1 || !strings.Contains(said[0], "can't be read") {
		t.Errorf("the log says %q", said)
	}
}

// What is read amid what is to be stored does not have that stored in pieces, and is what an account's JWT was at that point, or is
// afterwards.
func TestVaultReadsAmidWhatItStores(t *testing.T) {
	v := vault{dir: t.TempDir(), working: true}
	v.store(stores(aliceKey, "0", bobKey, "0"))
	read := func(key string) {
		v.Load(engine.VaultID(len(v.queue)), key)
	}
	read(bobKey)
	v.queue = append(v.queue, stores(aliceKey, "1", bobKey, "2")...)
	read(aliceKey)
	v.queue = append(v.queue, stores(bobKey, "3")...)
	ops := v.take()
	if len(ops) != 5 {
		t.Fatalf("%d are done together", len(ops))
	}
	for i, r := range v.carryOut(ops) {
		if want := []string{"0", "", "", "1", ""}[i]; r.Text != want || r.Err != "" {
			t.Errorf("%d: %q, %s", i, r.Text, r.Err)
		}
	}
	if text, err := os.ReadFile(v.file(bobKey)); err != nil || string(text) != "3" {
		t.Errorf("%q, %v", text, err)
	}
}
