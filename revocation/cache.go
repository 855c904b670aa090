package revocation

import (
	"bytes"
	"crypto/x509"
	"sync"
	"time"

	"golang.org/x/crypto/ocsp"
)

// CacheOptions say what is remembered.
type CacheOptions struct {
	Dir             string // where the cache is saved
	PreserveRevoked bool   // revocations are forgotten only for a newer answer
	SaveEvery       time.Duration
}

// The defaults of CacheOptions, and the least.
const (
	DefaultDir       = "_rc_"
	DefaultSaveEvery = 5 * time.Minute
	saveLeast        = time.Second
)

// cache is what is remembered of certificates, by their fingerprints.
type cache struct {
	o       CacheOptions
	witness Witness
	bounds  bounds
	now     func() time.Time
	quit    chan struct{} // closed when it is to be saved for the last time
	saved   chan struct{} // closed when it has been
	soon    chan struct{} // has one place: it is to be saved without waiting for the next time

	mu      sync.Mutex // guards what follows
	entries map[string]*entry
	revoked queue // the entries that are revocations
	others  queue // and the others
	stats   Stats
	bytes   int       // of the entries, with what they cost besides
	dirty   bool      // something is not saved
	full    bool      // what could not be remembered has been complained of
	lost    time.Time // when the last of the certificates ends whose revocation could not be remembered; zero: there were none
}

// entry is an answer about a certificate. It does not change, but for its place.
type entry struct {
	key     string // the certificate's fingerprint
	subject string
	at      time.Time
	status  string
	expires time.Time // zero: it does not say
	until   time.Time // when the certificate ends; zero: unknown, as files of nats-server don't say
	raw     []byte    // as the responder gave it
	place   int       // in its queue
}

// Stats count the use of a cache since it was opened, and what is in it.
type Stats struct {
	Hits, Misses                      int64
	Responses, Revoked, Good, Unknown int64
}

// Stats are those of the cache; false: there is none.
func (c *Checker) Stats() (s Stats, ok bool) {
	k := c.cache.Load()
	if k == nil {
		return s, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stats, true
}

func (s *Stats) add(e *entry, n int64) {
	s.Responses += n
	switch e.status {
	case "good":
		s.Good += n
	case "revoked":
		s.Revoked += n
	default:
		s.Unknown += n
	}
}

// UseCache has answers remembered as o says; nil: not at all. What was remembered is saved, and is kept if o is the same.
func (c *Checker) UseCache(o *CacheOptions) {
	c.changing.Lock()
	defer c.changing.Unlock()
	old := c.cache.Load()
	if old != nil && o != nil && old.o == o.complete() {
		return
	}
	c.cache.Store(nil)
	if old != nil {
		old.close()
	}
	if o != nil && c.ctx.Err() == nil { // who would close it?
		c.cache.Store(openCache(o.complete(), cacheBounds, c.witness, c.now))
	}
}

func (o *CacheOptions) complete() CacheOptions {
	k := *o
	if k.Dir == "" {
		k.Dir = DefaultDir
	}
	if k.SaveEvery == 0 {
		k.SaveEvery = DefaultSaveEvery
	}
	k.SaveEvery = max(k.SaveEvery, saveLeast)
	return k
}

// remembered is what is remembered of a certificate and counts still. known is what an answer that counts no more says all the
// same, or one that there was no room for may have said.
func (c *Checker) remembered(p *Policy, l *link) (a *ocsp.Response, known revoked) {
	k := c.cache.Load()
	if k == nil {
		return nil, revoked{}
	}
	e, lost := k.get(l.key)
	if e == nil {
		k.count(false)
		c.witness.Debugf("OCSP peer cache miss for key [%s]", l.key)
		return nil, revoked{maybe: lost}
	}
	c.witness.Debugf("OCSP peer cache hit for key [%s]", l.key)
	a, err := l.parse(e.raw)
	var signer *x509.Certificate
	entitled := false
	if err == nil {
		signer, entitled = l.delegate(a)
	}
	if !entitled {
		c.witness.Debugf("Cached OCSP response for key [%s] can't be believed", l.key)
		k.count(false)
		c.drop(k, l, e)
		return nil, revoked{maybe: e.revoked()}
	}
	now := c.now()
	why := p.outdated(a, now)
	if why == "" && p.lapsed(signer, now) { // what it said while it was entitled to stays known, as other old answers do
		why = "The certificate of the OCSP responder is not valid now"
	}
	if why != "" {
		c.witness.Debugf("%s", why)
		c.witness.Debugf("Cached OCSP response is expired, status [%s]", status(a.Status))
		k.count(false)
		c.drop(k, l, e)
		if a.Status == ocsp.Revoked {
			return nil, revoked{maybe: true, since: a.ThisUpdate}
		}
		return nil, revoked{}
	}
	c.witness.Debugf("Cached OCSP response is current, status [%s]", status(a.Status))
	k.count(true)
	return a, revoked{}
}

// revoked is what is known of a certificate of which there is no answer that counts.
type revoked struct {
	maybe bool      // it has been revoked, or may have been
	since time.Time // when that was known; zero: unknown
}

// drop forgets an answer that does not count. A revocation stays until there is a newer answer, or the certificate ends: else who is
// revoked would have to try only once more where a responder out of reach lets people in, now or after a reload.
func (c *Checker) drop(k *cache, l *link, e *entry) {
	if e.revoked() {
		c.witness.Debugf("Revoked OCSP response for key [%s] preserved by cache policy", l.key)
		return
	}
	c.witness.Debugf("Deleting OCSP peer cached response for key [%s]", l.key)
	k.forget(l.key, e)
}

// remember remembers a new answer.
func (c *Checker) remember(l *link, a *ocsp.Response) {
	k := c.cache.Load()
	if k == nil {
		return
	}
	c.witness.Debugf("Caching OCSP response for [%s], key [%s]", l.name, l.key)
	k.put(l.key, &entry{
		subject: l.name, at: c.now().UTC().Truncate(time.Second), status: status(a.Status), expires: a.NextUpdate.UTC(),
		until: l.cert.NotAfter.UTC(), raw: bytes.Clone(a.Raw), // without the rest of what it was read into
	})
}

// get returns what is remembered of a certificate; nil: nothing. lost says that it may have been revoked all the same.
func (k *cache) get(key string) (e *entry, lost bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.entries[key], k.losing(k.lost)
}

func (k *cache) count(hit bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if hit {
		k.stats.Hits++
	} else {
		k.stats.Misses++
	}
}

// forget removes e, unless there is another by now.
func (k *cache) forget(key string, e *entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries[key] == e {
		k.set(key, nil)
		k.dirty = true
	}
}
