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
	quit    chan struct{} // closed when it is to be saved for the last time
	saved   chan struct{} // closed when it has been

	mu      sync.Mutex // guards what follows
	entries map[string]*entry
	stats   Stats
	bytes   int  // of the entries, with what they cost besides
	dirty   bool // something is not saved
	full    bool // what could not be remembered has been complained of
	lost    bool // a revocation could not be remembered
}

// entry is an answer about a certificate. It does not change.
type entry struct {
	subject string
	at      time.Time
	status  string
	expires time.Time // zero: it does not say
	raw     []byte    // as the responder gave it
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

// set has e, or nothing, remembered. The lock is held.
func (k *cache) set(key string, e *entry) {
	if old := k.entries[key]; old != nil {
		k.stats.add(old, -1)
		k.bytes -= old.size(key)
		delete(k.entries, key)
	}
	if e != nil {
		k.stats.add(e, 1)
		k.bytes += e.size(key)
		k.entries[key] = e
	}
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
		c.cache.Store(openCache(o.complete(), cacheBounds, c.witness))
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

// remembered is what is remembered of a certificate and counts still. wasRevoked says that an answer that counts no more says
// that the certificate is revoked, or that one may have said so that there was no room for.
func (c *Checker) remembered(p *Policy, l *link) (a *ocsp.Response, wasRevoked bool) {
	k := c.cache.Load()
	if k == nil {
		return nil, false
	}
	e, lost := k.get(l.key)
	if e == nil {
		k.count(false)
		c.witness.Debugf("OCSP peer cache miss for key [%s]", l.key)
		return nil, lost
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
		k.forget(l.key, e)
		return nil, false
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
		// Where it decides about those whose responder is out of reach, a revocation stays until there is a newer answer: else
		// who is revoked would have to try only once more.
		wasRevoked = a.Status == ocsp.Revoked
		if wasRevoked && (k.o.PreserveRevoked || p.AllowUnreachable) {
			c.witness.Debugf("Revoked OCSP response for key [%s] preserved by cache policy", l.key)
			return nil, true
		}
		c.witness.Debugf("Deleting OCSP peer cached response for key [%s]", l.key)
		k.forget(l.key, e)
		return nil, wasRevoked
	}
	c.witness.Debugf("Cached OCSP response is current, status [%s]", status(a.Status))
	k.count(true)
	return a, false
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
		raw: bytes.Clone(a.Raw), // without the rest of what it was read into
	})
}

// get returns what is remembered of a certificate; nil: nothing. lost says that it may have been revoked all the same.
func (k *cache) get(key string) (e *entry, lost bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.entries[key], k.lost
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
