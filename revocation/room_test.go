package revocation

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// small is a cache that holds little.
func small(t *testing.T, b bounds, l *log) *cache {
	t.Helper()
	k := openCache(CacheOptions{Dir: t.TempDir(), SaveEvery: time.Hour}, b, l, time.Now)
	t.Cleanup(k.close)
	return k
}

func answerOf(status string, size int, ends time.Time) *entry {
	return &entry{status: status, raw: make([]byte, size), expires: ends}
}

// consistent compares the sums with what is there.
func (k *cache) consistent(t *testing.T) {
	t.Helper()
	var s Stats
	size := 0
	for key, e := range k.entries {
		s.add(e, 1)
		size += e.size(key)
	}
	for _, q := range []queue{k.revoked, k.others} {
		for i, e := range q {
			if e.place != i || k.entries[e.key] != e || *k.queueOf(e) == nil || i > 0 && e.leaves().Before(q[(i-1)/2].leaves()) {
				t.Fatalf("%s is not in its place", e.key)
			}
		}
	}
	if len(k.revoked) != int(s.Revoked) || len(k.revoked)+len(k.others) != len(k.entries) {
		t.Fatalf("%d revocations and %d others of %+v", len(k.revoked), len(k.others), s)
	}
	if s != k.stats || size != k.bytes || len(k.entries) > k.bounds.answers || size > k.bounds.bytes {
		t.Fatalf("%d answers with %d bytes, %+v; counted as %d, %+v; bounds %+v", len(k.entries), size, s, k.bytes, k.stats, k.bounds)
	}
}

func TestCacheIsBounded(t *testing.T) {
	for _, b := range []bounds{{answers: 100, bytes: 1 << 30}, {answers: 1 << 30, bytes: 100 * (entryBytes + 2 + 1000)}} {
		l := &log{}
		k := small(t, b, l)
		for i := range 1000 {
			k.put(fmt.Sprintf("%02d", i%200), answerOf([]string{"good", "unknown"}[i%2], 500+i%3*250, time.Time{}))
			k.consistent(t)
		}
		if n := len(k.entries); n < 100 {
			t.Errorf("%+v: %d are left", b, n)
		}
		if text := l.take(); strings.Contains(text, "is full") {
			t.Errorf("log:\n%s", text)
		}
	}
}

// What ends first goes first.
func TestRoomIsMadeByWhatEndsFirst(t *testing.T) {
	k := small(t, bounds{answers: 50, bytes: 1 << 30}, &log{})
	now := time.Unix(1e9, 0)
	for i := range 60 {
		k.put(fmt.Sprint(i), answerOf("good", 10, now.Add(time.Duration(i)*time.Second)))
	}
	for i := range 60 {
		if e, _ := k.get(fmt.Sprint(i)); (e != nil) != (i >= 10) {
			t.Errorf("%d: %v", i, e)
		}
	}
}

// Revocations are the last to go: all others make room for them, and nothing does so at their cost.
func TestRevocationsHaveRoom(t *testing.T) {
	for _, b := range []bounds{{answers: 300, bytes: 1 << 30}, {answers: 1 << 30, bytes: 300 * (entryBytes + 4 + 100)}} {
		l := &log{}
		k := small(t, b, l)
		for i := range 300 {
			status := "revoked"
			if i%100 == 99 { // few, so that they are to be searched for
				status = "good"
			}
			k.put(fmt.Sprintf("a%03d", i), answerOf(status, 100, time.Time{}))
		}
		for i := range 3 {
			k.put(fmt.Sprintf("b%03d", i), answerOf("revoked", 100, time.Time{}))
			k.consistent(t)
		}
		if text := l.take(); k.stats.Revoked != 300 || k.stats.Good != 0 || strings.Contains(text, "is full") {
			t.Fatalf("%+v, log:\n%s", k.stats, text)
		}
		for range 2 {
			k.put("good", answerOf("good", 100, time.Time{}))
		}
		text := l.take()
		if e, lost := k.get("good"); e != nil || lost || strings.Count(text, "[WRN] OCSP peer cache is full of revocations: other answers are not") != 1 {
			t.Errorf("%v, %v, log:\n%s", e, lost, text)
		}
		for i := range 2 {
			k.put(fmt.Sprintf("c%03d", i), answerOf("revoked", 100, time.Time{}))
			k.consistent(t)
		}
		text = l.take()
		if e, lost := k.get("c000"); e != nil || !lost || strings.Count(text, "[WRN] "+fullOfRevocations) != 1 {
			t.Errorf("%v, %v, log:\n%s", e, lost, text)
		}
		if k.stats.Revoked != 300 {
			t.Errorf("%+v", k.stats)
		}
		k.put("a000", answerOf("good", 100, time.Time{})) // a newer answer
		k.consistent(t)
		if e, lost := k.get("a000"); e == nil || !lost {
			t.Errorf("%v, %v", e, lost)
		}
		k.put("c001", answerOf("revoked", 100, time.Time{}))
		if e, lost := k.get("c001"); e == nil || !lost || k.stats.Revoked != 300 {
			t.Errorf("%v, %v, %+v", e, lost, k.stats)
		}
		k.consistent(t)
	}
}

// Revocations of certificates that have expired make room for others, before anything else.
func TestExpiredRevocationsMakeRoom(t *testing.T) {
	l := &log{}
	k := small(t, bounds{answers: 3, bytes: 1 << 30}, l)
	now := time.Now()
	k.now = func() time.Time { return now }
	revoked := func(until time.Duration) *entry {
		return &entry{status: "revoked", raw: make([]byte, 10), until: now.Add(until)}
	}
	k.put("soon", revoked(time.Hour))
	k.put("late", revoked(3*time.Hour))
	k.put("good", answerOf("good", 10, now.Add(time.Minute)))
	now = now.Add(2 * time.Hour)
	k.put("new", revoked(24*time.Hour))
	k.consistent(t)
	for key, there := range map[string]bool{"soon": false, "late": true, "good": true, "new": true} {
		if e, lost := k.get(key); (e != nil) != there || lost {
			t.Errorf("%s: %v, %v", key, e, lost)
		}
	}
	k.put("newer", revoked(24*time.Hour))
	k.put("unknown end", answerOf("revoked", 10, time.Time{}))
	if e, lost := k.get("late"); e == nil || !lost {
		t.Errorf("%v, %v: a certificate that has not expired was forgotten", e, lost)
	}
	k.consistent(t)
}

// What was lost counts until its certificate has expired: until the last has.
func TestLostRevocationsEnd(t *testing.T) {
	l := &log{}
	o := CacheOptions{Dir: t.TempDir(), SaveEvery: time.Hour}
	now := time.Now()
	clock := func() time.Time { return now }
	open := func() *cache { return openCache(o, bounds{answers: 1, bytes: 1 << 30}, l, clock) }
	k := open()
	revoked := func(until time.Duration) *entry { return &entry{status: "revoked", until: now.Add(until)} }
	k.put("kept", revoked(4*time.Hour))
	k.put("first", revoked(2*time.Hour))
	k.put("second", revoked(time.Hour))
	for range 2 {
		if _, lost := k.get("x"); !lost {
			t.Error("forgotten")
		}
		k.put("kept", answerOf("good", 1, time.Time{})) // there would be room now
		k.close()
		if n := strings.Count(l.take(), "[WRN] "+fullOfRevocations); n != 1 {
			t.Errorf("told %d times", n)
		}
		now = now.Add(time.Hour)
		k = open()
	}
	if _, lost := k.get("x"); lost {
		t.Error("known for ever")
	}
	k.put("another", revoked(time.Hour))
	k.put("one more", revoked(time.Hour))
	if _, lost := k.get("x"); !lost || !strings.Contains(l.take(), "[WRN] "+fullOfRevocations) {
		t.Error("it is not told again")
	}
	k.close()
}

// Where a revocation could not be remembered, nobody is let in that could be meant while the responder is out of reach, not even
// after a restart.
func TestRevocationsWithoutRoom(t *testing.T) {
	w := newWorld(t)
	w.policy.AllowUnreachable = true
	o := CacheOptions{Dir: t.TempDir(), SaveEvery: time.Hour}
	open := func() { w.c.cache.Store(openCache(o, bounds{answers: 1, bytes: 1 << 20}, w.log, time.Now)) }
	open()
	w.inter.cert.OCSPServer = nil // so that there are only the peers' answers
	first, second, third := w.peer("a"), w.peer("b"), w.peer("c")
	w.expect("not known, with room", third, true)
	revoked := func(r *reply) { r.Status = ocsp.Revoked }
	w.answers(first[0], revoked)
	w.answers(second[0], revoked)
	w.expect("the first", first, false)
	w.expect("the second", second, false, "[WRN] "+fullOfRevocations)
	gone := func(r *reply) { r.status = http.StatusNotFound }
	w.answers(first[0], gone)
	w.answers(second[0], gone)
	w.answers(third[0], gone)
	for range 2 {
		w.expect("the first, out of reach", first, false)
		w.expect("the second, out of reach", second, false)
		w.expect("one that could be it", third, false)
		w.c.cache.Load().close()
		open()
	}
	w.answers(third[0], func(*reply) {})
	w.expect("in reach again", third, true)
	// The first is good again and makes room: what was lost stays known.
	w.answers(first[0], func(r *reply) { r.ThisUpdate, r.NextUpdate = time.Now(), ago(-3*time.Hour) })
	w.later(2 * time.Hour)
	w.expect("the first, good again", first, true)
	for range 2 {
		w.expect("the second, out of reach still", second, false)
		w.c.cache.Load().close()
		open()
	}
	w.c.UseCache(nil)
}
