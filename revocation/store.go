package revocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/natsd/natsd/internal/durable"
)

// The file is nats-server's: an object with the certificates' fingerprints as its names. Answers are in S2's stream format.

const fileName = "cache.json"

// stored is an entry in the file. What is beside the answer is for people to read.
type stored struct {
	Subject string    `json:"subject,omitempty"`
	At      time.Time `json:"cached_at"`
	Status  string    `json:"resp_status"`
	Expires time.Time `json:"resp_expires"`
	Answer  []byte    `json:"resp"`
	// Until is when the certificate ends. It is natsd's own: nats-server passes it over.
	Until *time.Time `json:"cert_expires,omitempty"`
}

// lostName is the name of what is no certificate: that there were revocations that could not be remembered, until then.
const lostName = "revocations without room"

// openCache reads what was saved and saves it from time to time, until close.
func openCache(o CacheOptions, b bounds, w Witness, now func() time.Time) *cache {
	k := &cache{
		o: o, witness: w, bounds: b, now: now, entries: map[string]*entry{},
		quit: make(chan struct{}), saved: make(chan struct{}), soon: make(chan struct{}, 1),
	}
	w.Debugf("Starting OCSP peer cache")
	err := durable.Sweep(o.Dir, func(name string) bool { return name == fileName })
	if err = errors.Join(err, sweepFormer(o.Dir)); err != nil {
		w.Warnf("What was left in the directory of the OCSP peer cache stays: %v", err)
	}
	w.Debugf("Loading OCSP peer cache [%s]", k.file())
	switch err := k.load(); {
	case errors.Is(err, fs.ErrNotExist):
		w.Debugf("No OCSP peer cache found, starting with empty cache")
	case err != nil:
		w.Warnf("Unable to load OCSP peer cache: %v", err)
	}
	w.Infof("OCSP peer cache online, type [local]")
	go k.keepSaved()
	return k
}

// close saves the cache for the last time.
func (k *cache) close() {
	k.witness.Debugf("Stopping OCSP peer cache")
	close(k.quit)
	<-k.saved
}

// file names the file as people know it, from the root.
func (k *cache) file() string {
	file := filepath.Join(k.o.Dir, fileName)
	if whole, err := filepath.Abs(file); err == nil {
		return whole
	}
	return file
}

func (k *cache) load() error {
	text, err := os.ReadFile(k.file())
	if err != nil {
		return err
	}
	var all map[string]stored
	if err := json.Unmarshal(text, &all); err != nil {
		k.dirty = true // what can't be read is replaced
		return err
	}
	r := s2.NewReader(nil)
	if s, there := all[lostName]; there {
		delete(all, lostName)
		if k.lost = forever; s.Until != nil {
			k.lost = *s.Until
		}
		if k.losing(k.lost) {
			k.full = true
			k.witness.Warnf("%s", fullOfRevocations)
		}
	}
	for key, s := range all {
		r.Reset(bytes.NewReader(s.Answer))
		raw, err := io.ReadAll(io.LimitReader(r, answerMax+1))
		if err != nil || len(raw) > answerMax {
			if s.Status != "revoked" {
				continue // it will be asked for again
			}
			raw = nil // nobody can be shown it, but it is known
		}
		e := &entry{subject: s.Subject, at: s.At, status: s.Status, expires: s.Expires, raw: bytes.Clone(raw)}
		if s.Until != nil {
			e.until = *s.Until
		}
		k.put(key, e)
	}
	k.dirty = len(k.entries) < len(all)
	select {
	case <-k.soon: // none is new
	default:
	}
	return nil
}

// hurry has the cache saved soon: a revocation is not to be forgotten with the process.
func (k *cache) hurry() {
	select {
	case k.soon <- struct{}{}:
	default: // it will be
	}
}

func (k *cache) keepSaved() {
	defer close(k.saved)
	t := time.NewTicker(k.o.SaveEvery)
	defer t.Stop()
	rested := time.NewTimer(0) // many revocations must not keep a server busy with saving
	defer rested.Stop()
	var soon chan struct{}
	for {
		select {
		case <-k.quit:
			k.save()
			return
		case <-rested.C:
			soon = k.soon
		case <-soon:
			began := time.Now()
			k.save()
			soon = nil
			rested.Reset(max(saveLeast, 10*time.Since(began)))
		case <-t.C:
			k.witness.Debugf("OCSP peer cache save timer expired")
			k.save()
		}
	}
}

// save writes the file if something has changed. What can't be saved is tried again the next time.
func (k *cache) save() {
	k.mu.Lock()
	if !k.dirty {
		k.mu.Unlock()
		return
	}
	if !k.losing(k.lost) {
		k.lost, k.full = time.Time{}, false // whatever there was no room for has ended
	}
	entries, lost := maps.Clone(k.entries), k.lost
	k.dirty = false
	k.mu.Unlock()
	k.witness.Debugf("OCSP peer cache is dirty, saving")
	k.witness.Debugf("Saving OCSP peer cache [%s]", k.file())
	n, err := k.write(entries, lost)
	if err != nil {
		k.witness.Errorf("Unable to save OCSP peer cache: %v", err)
		k.mu.Lock()
		k.dirty = true
		k.mu.Unlock()
		return
	}
	k.witness.Debugf("Saved OCSP peer cache successfully (%d bytes)", n)
}

// write replaces the file, whole or not at all, and returns its size.
func (k *cache) write(entries map[string]*entry, lost time.Time) (size int64, err error) {
	if err := os.MkdirAll(k.o.Dir, 0o700); err != nil {
		return 0, err
	}
	return durable.Replace(k.file(), 0o600, func(w io.Writer) error { return encode(w, entries, lost) })
}

// encode writes one entry after the other, as json.MarshalIndent would write them all, without all of their texts at once.
func encode(to io.Writer, entries map[string]*entry, lost time.Time) error {
	var packed bytes.Buffer
	w := s2.NewWriter(nil, s2.WriterConcurrency(1), s2.WriterBlockSize(answerMax))
	before := "{\n "
	write := func(key string, s *stored) error {
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(s, " ", " ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(to, "%s%s: %s", before, name, text)
		before = ",\n "
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		e := entries[key]
		packed.Reset()
		w.Reset(&packed)
		if _, err := w.Write(e.raw); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		s := &stored{Subject: e.subject, At: e.at, Status: e.status, Expires: e.expires, Answer: packed.Bytes()}
		if e.revoked() && !e.until.IsZero() {
			s.Until = &e.until
		}
		if err := write(key, s); err != nil {
			return err
		}
	}
	if !lost.IsZero() {
		if err := write(lostName, &stored{Status: "revoked", Until: &lost}); err != nil {
			return err
		}
	}
	end := "\n}"
	if before == "{\n " {
		end = "{}"
	}
	_, err := io.WriteString(to, end)
	return err
}

// sweepFormer removes what former versions have left when they were killed while they saved: names of the file with a number, and no
// whole JSON. What is whole could be somebody's copy.
func sweepFormer(dir string) error {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	problems := []error{err}
	for _, n := range names {
		number, is := strings.CutPrefix(n.Name(), fileName+"-")
		if !is || number == "" || strings.Trim(number, "0123456789") != "" || !n.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, n.Name())
		text, err := os.ReadFile(name)
		if err == nil && !json.Valid(text) {
			err = os.Remove(name)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
