package revocation

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/crypto/ocsp"
)

// remembering is a world with a cache in a directory of its own.
func remembering(t *testing.T, o CacheOptions) *world {
	t.Helper()
	w := newWorld(t)
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	w.c.UseCache(&o)
	t.Cleanup(func() { w.c.UseCache(nil) }) // before the directory goes
	return w
}

func (w *world) stats(want Stats) {
	w.t.Helper()
	if got, ok := w.c.Stats(); !ok || got != want {
		w.t.Errorf("%+v, %v, want %+v", got, ok, want)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	t.Chdir(t.TempDir()) // the default directory is below
	w := remembering(t, CacheOptions{})
	good, bad, odd := w.peer("good"), w.peer("bad"), w.peer("odd")
	w.answers(bad[0], func(r *reply) { r.Status = ocsp.Revoked })
	w.answers(odd[0], func(r *reply) { r.Status = ocsp.Unknown })
	w.expect("the first time", good, true, "[DBG] OCSP peer cache miss for key [KEY]", "[DBG] Caching OCSP response for [CN=good], key [KEY]")
	w.expect("the second time", good, true, "[DBG] OCSP peer cache hit for key [KEY]", "[DBG] Cached OCSP response is current, status [good]")
	w.expect("revoked", bad, false)
	w.expect("revoked again", bad, false, "Cached OCSP response is current, status [revoked]")
	w.expect("unknown", odd, false)
	w.policy.UnknownIsGood = true
	w.expect("unknown with another policy", odd, true)
	w.stats(Stats{Hits: 5, Misses: 4, Responses: 4, Revoked: 1, Good: 2, Unknown: 1})
	if n := w.askedFor(good[0]) + w.askedFor(bad[0]) + w.askedFor(odd[0]); n != 3 {
		t.Errorf("asked %d times", n)
	}
	for _, again := range []*CacheOptions{nil, {}} {
		w.c.UseCache(again)
		w.expect("with another cache, or none", good, true)
	}
	if n := w.askedFor(good[0]); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

// later lets time pass.
func (w *world) later(d time.Duration) {
	w.c.now = func() time.Time { return time.Now().Add(d) }
}

func TestOldAnswersAreForgotten(t *testing.T) {
	w := remembering(t, CacheOptions{})
	chain := w.peer("p")
	w.expect("new", chain, true)
	w.answers(chain[0], func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(-2*time.Hour), ago(-3*time.Hour) })
	w.answers(w.inter.cert, func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(-2*time.Hour), ago(-3*time.Hour) })
	w.later(2 * time.Hour)
	w.expect("old", chain, true, "[DBG] Cached OCSP response is expired, status [good]", "[DBG] Deleting OCSP peer cached response for key [KEY]",
		"Caching OCSP response")
	w.stats(Stats{Misses: 4, Responses: 2, Good: 2})
}

// Who is revoked stays so while the responder is out of reach, where others are let in then.
func TestRevocationsOutlastResponders(t *testing.T) {
	for _, c := range []struct {
		name               string
		preserve, trusting bool
	}{{"neither", false, false}, {"preserved", true, false}, {"trusting", false, true}, {"both", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := remembering(t, CacheOptions{PreserveRevoked: c.preserve})
			w.policy.AllowUnreachable = c.trusting
			chain := w.peer("p")
			w.answers(chain[0], func(r *reply) { r.Status = ocsp.Revoked })
			w.expect("revoked", chain, false)
			w.answers(chain[0], func(r *reply) { r.status = http.StatusNotFound })
			w.later(2 * time.Hour)
			line := "exhausted OCSP responders"
			if c.trusting {
				line = "but AllowWhenCAUnreachable set; cached revocation exists so rejecting"
			}
			for range 3 {
				w.expect("no answer", chain, false, line)
			}
			w.stats(Stats{Misses: 4, Responses: 1, Revoked: 1})
			w.policy.AllowUnreachable = true // as by a reload
			w.expect("no answer, with another policy", chain, false, "cached revocation exists so rejecting")
			w.answers(chain[0], func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(-2*time.Hour), ago(-3*time.Hour) })
			w.answers(w.inter.cert, func(r *reply) { r.ThisUpdate, r.NextUpdate = ago(-2*time.Hour), ago(-3*time.Hour) })
			w.expect("good again", chain, true)
		})
	}
}

// An answer from before the revocation does not end it, however long it counts: somebody could have kept it.
func TestOlderAnswersAreNotBelieved(t *testing.T) {
	w := remembering(t, CacheOptions{})
	chain := w.peer("p")
	w.answers(chain[0], func(r *reply) { r.Status, r.ThisUpdate = ocsp.Revoked, ago(time.Minute) })
	w.answers(w.inter.cert, func(r *reply) { r.NextUpdate = ago(-24 * time.Hour) })
	w.expect("revoked", chain, false)
	w.later(2 * time.Hour)
	good := func(made time.Time) {
		w.answers(chain[0], func(r *reply) { r.ThisUpdate, r.NextUpdate = made, ago(-24*time.Hour) })
	}
	good(ago(time.Hour))
	for range 2 {
		w.expect("good before", chain, false, "[WRN] New OCSP CA response obtained for [CN=p] but older than its revocation")
	}
	good(ago(time.Minute))
	w.expect("good since", chain, true)
}

// A revocation is saved at once: the process may not live to the next time.
func TestRevocationsAreSavedSoon(t *testing.T) {
	dir := t.TempDir()
	w := remembering(t, CacheOptions{Dir: dir, SaveEvery: time.Hour})
	chain := w.peer("p")
	w.answers(chain[0], func(r *reply) { r.Status = ocsp.Revoked })
	w.expect("revoked", chain, false)
	for { // until it is there; the test's own time limit bounds that
		text, err := os.ReadFile(filepath.Join(dir, fileName))
		if err == nil && strings.Contains(string(text), Fingerprint(chain[0])) {
			break
		}
		runtime.Gosched()
	}
}

// A revocation whose answer can't be read any more is known all the same.
func TestRevocationsOutlastTheirAnswers(t *testing.T) {
	for name, answer := range map[string]string{"no answer": "AAAA", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.policy.AllowUnreachable = true
			chain := w.peer("p")
			dir := t.TempDir()
			text := `{"` + Fingerprint(chain[0]) + `": {"resp_status": "revoked", "resp": "` + answer + `"}}`
			ok(t, os.WriteFile(filepath.Join(dir, fileName), []byte(text), 0o600))
			w.answers(chain[0], func(r *reply) { r.status = http.StatusNotFound })
			for range 2 {
				w.c.UseCache(&CacheOptions{Dir: dir})
				w.expect("out of reach", chain, false, "cached revocation exists so rejecting")
				w.expect("once more", chain, false)
				w.c.UseCache(nil)
			}
			w.answers(chain[0], func(*reply) {})
			w.c.UseCache(&CacheOptions{Dir: dir})
			w.expect("good", chain, true)
			w.c.UseCache(nil)
		})
	}
}

// What a delegate said while it was entitled to outlasts its certificate.
func TestRevocationsOutlastDelegates(t *testing.T) {
	w := remembering(t, CacheOptions{})
	w.policy.AllowUnreachable = true
	chain := w.peer("p")
	d := w.inter.issue("d", &x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, NotBefore: ago(time.Hour), NotAfter: ago(-time.Hour),
	})
	w.answers(chain[0], func(r *reply) {
		r.Status, r.NextUpdate, r.signer, r.cert = ocsp.Revoked, ago(-24*time.Hour), d, d
	})
	w.expect("revoked", chain, false)
	w.answers(chain[0], func(r *reply) { r.status = http.StatusNotFound })
	w.later(2 * time.Hour)
	for range 2 {
		w.expect("no answer", chain, false, "[DBG] The certificate of the OCSP responder is not valid now",
			"but AllowWhenCAUnreachable set; cached revocation exists so rejecting")
	}
	w.stats(Stats{Misses: 3, Responses: 1, Revoked: 1})
}

func TestCacheIsSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w := remembering(t, CacheOptions{Dir: dir})
	chain, other := w.peer("p"), w.peer("q")
	w.answers(other[0], func(r *reply) { r.Status, r.NextUpdate = ocsp.Revoked, time.Time{} })
	w.expect("new", chain, true)
	w.expect("revoked", other, false)
	w.c.UseCache(nil)
	if text := w.log.whole(); !strings.Contains(text, "[DBG] Stopping OCSP peer cache") || !strings.Contains(text, "[DBG] OCSP peer cache is dirty, saving") ||
		!strings.Contains(text, "[DBG] Saving OCSP peer cache ["+filepath.Join(dir, "cache.json")+"]") ||
		!strings.Contains(text, "[DBG] Saved OCSP peer cache successfully (") {
		t.Errorf("log:\n%s", text)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	// The form is nats-server's.
	text, err := os.ReadFile(filepath.Join(dir, "cache.json"))
	ok(t, err)
	var all map[string]map[string]string
	ok(t, json.Unmarshal(text, &all))
	a, b := all[Fingerprint(chain[0])], all[Fingerprint(other[0])]
	if a["subject"] != "CN=p" || a["resp_status"] != "good" || b["resp_status"] != "revoked" || b["resp_expires"] != "0001-01-01T00:00:00Z" ||
		len(a["cached_at"]) != len("2006-01-02T15:04:05Z") || len(a) != 5 || len(b) != 6 ||
		b["cert_expires"] != other[0].NotAfter.UTC().Format(time.RFC3339) || !strings.HasPrefix(a["resp"], "/wYAAFMyc1R3T") {
		t.Errorf("saved %s", text)
	}
	if !strings.HasPrefix(string(text), "{\n \"") {
		t.Errorf("it begins with %.20s", text)
	}
	w.c.UseCache(&CacheOptions{Dir: dir})
	w.stats(Stats{Responses: 3, Good: 2, Revoked: 1})
	w.expect("after a restart", chain, true, "Cached OCSP response is current, status [good]")
	w.expect("revoked after a restart", other, false, "Cached OCSP response is current, status [revoked]")
	w.log.take()
	w.c.UseCache(nil)
	if text := w.log.take(); strings.Contains(text, "saving") {
		t.Errorf("saved again without a change:\n%s", text)
	}
}

// It is written entry by entry: the whole is what it would be at once.
func TestCacheIsJSON(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		entries := map[string]*entry{}
		for i := range n {
			entries[fmt.Sprintf("\"%d+/<", i)] = &entry{subject: "CN=<&>", at: time.Unix(1, 0).UTC(), status: "good", raw: []byte("x")}
		}
		var text bytes.Buffer
		ok(t, encode(&text, entries, time.Time{}))
		var all map[string]stored
		ok(t, json.Unmarshal(text.Bytes(), &all))
		want, err := json.MarshalIndent(all, "", " ")
		ok(t, err)
		if len(all) != n || text.String() != string(want) {
			t.Errorf("%s\nwant\n%s", &text, want)
		}
	}
}

// A server that was killed while it saved has left something, which the next one removes.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		fileName + ".1234.tmp": "{", "other.1234.tmp": "{",
		fileName + "-1234567890": `{"half`, fileName + "-20261130": "{}", fileName + "-old": "{", "other-1234": "{", // as former versions did
	} {
		ok(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	w := remembering(t, CacheOptions{Dir: dir})
	files, err := os.ReadDir(dir)
	var left []string
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := []string{fileName + "-20261130", fileName + "-old", "other-1234", "other.1234.tmp"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q, %v", left, err)
	}
	if text := w.log.take(); strings.Contains(text, "[WRN]") {
		t.Errorf("log:\n%s", text)
	}
}

// A file that nats-server 2.15 has written.
func TestReferencesFile(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/cache.json")
	ok(t, err)
	ok(t, os.WriteFile(filepath.Join(dir, fileName), text, 0o600))
	w := remembering(t, CacheOptions{Dir: dir})
	w.stats(Stats{Responses: 7, Good: 5, Revoked: 1, Unknown: 1})
	for key, e := range w.c.cache.Load().entries {
		a, err := ocsp.ParseResponse(e.raw, nil)
		if err != nil || status(a.Status) != e.status || !a.NextUpdate.Equal(e.expires) {
			t.Errorf("%s: %+v, %v", key, a, err)
		}
	}
}

func TestFilesThatCanNotBeRead(t *testing.T) {
	var zeros, tooLong bytes.Buffer
	w := s2.NewWriter(&zeros)
	_, err := io.WriteString(w, "not an answer")
	ok(t, err)
	ok(t, w.Close())
	w.Reset(&tooLong)
	_, err = w.Write(make([]byte, answerMax+1))
	ok(t, err)
	ok(t, w.Close())
	for name, c := range map[string]struct {
		text string
		line string
		left int64
	}{
		"garbage":             {"garbage", "[WRN] Unable to load OCSP peer cache: invalid character 'g'", 0},
		"no base64":           {`{"K": {"resp": "!"}}`, "[WRN] Unable to load OCSP peer cache: illegal base64", 0},
		"not compressed":      {`{"K": {"resp": "AAAA"}}`, "[INF] OCSP peer cache online, type [local]", 0},
		"endless":             {`{"K": {"resp": "` + base(tooLong.Bytes()) + `"}}`, "[INF] OCSP peer cache online, type [local]", 0},
		"no answer, about it": {`{"KEY": {"resp": "` + base(zeros.Bytes()) + `"}}`, "[INF] OCSP peer cache online, type [local]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			chain := w.peer("p")
			dir := t.TempDir()
			ok(t, os.WriteFile(filepath.Join(dir, fileName), []byte(strings.Replace(c.text, "KEY", Fingerprint(chain[0]), 1)), 0o600))
			w.c.UseCache(&CacheOptions{Dir: dir})
			if text := w.log.take(); !strings.Contains(text, c.line) {
				t.Errorf("log:\n%s", text)
			}
			w.stats(Stats{Responses: c.left, Unknown: c.left})
			w.expect("asked all the same", chain, true)
			w.stats(Stats{Misses: 2, Responses: 2, Good: 2})
		})
	}
}

func base(b []byte) string {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(text), `"`)
}

func TestCacheThatCanNotBeSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	ok(t, os.WriteFile(file, nil, 0o600))
	w := remembering(t, CacheOptions{Dir: filepath.Join(file, "dir")})
	w.expect("new", w.peer("p"), true)
	w.c.UseCache(nil)
	if text := w.log.take(); !strings.Contains(text, "[ERR] Unable to save OCSP peer cache: ") {
		t.Errorf("log:\n%s", text)
	}
}
