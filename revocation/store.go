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
}

// openCache reads what was saved and saves it from time to time, until close.
func openCache(o CacheOptions, b bounds, w Witness) *cache {
	k := &cache{
		o: o, witness: w, bounds: b, entries: map[string]*entry{}, quit: make(chan struct{}), saved: make(chan struct{}),
	}
	w.Debugf("Starting OCSP peer cache")
	if err := durable.Sweep(o.Dir, func(name string) bool { return name == fileName }); err != nil {
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
	for key, s := range all {
		r.Reset(bytes.NewReader(s.Answer))
		raw, err := io.ReadAll(io.LimitReader(r, answerMax+1))
		if err != nil || len(raw) > answerMax {
			continue // it will be asked for again
		}
		k.put(key, &entry{subject: s.Subject, at: s.At, status: s.Status, expires: s.Expires, raw: bytes.Clone(raw)})
	}
	k.dirty = len(k.entries) < len(all)
	if !k.lost && k.mayHaveLost() {
		k.lost, k.full = true, true
		k.witness.Warnf("%s", fullOfRevocations)
	}
	return nil
}

func (k *cache) keepSaved() {
	defer close(k.saved)
	t := time.NewTicker(k.o.SaveEvery)
	defer t.Stop()
	for {
		select {
		case <-k.quit:
			k.save()
			return
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
	entries := maps.Clone(k.entries)
	k.dirty = false
	k.mu.Unlock()
	k.witness.Debugf("OCSP peer cache is dirty, saving")
	k.witness.Debugf("Saving OCSP peer cache [%s]", k.file())
	n, err := k.write(entries)
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
func (k *cache) write(entries map[string]*entry) (size int64, err error) {
	if err := os.MkdirAll(k.o.Dir, 0o700); err != nil {
		return 0, err
	}
	return durable.Replace(k.file(), 0o600, func(w io.Writer) error { return encode(w, entries) })
}

// encode writes one entry after the other, as json.MarshalIndent would write them all, without all of their texts at once.
func encode(to io.Writer, entries map[string]*entry) error {
	var packed bytes.Buffer
	w := s2.NewWriter(nil, s2.WriterConcurrency(1), s2.WriterBlockSize(answerMax))
	before := "{\n "
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
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(stored{e.subject, e.at, e.status, e.expires, packed.Bytes()}, " ", " ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "%s%s: %s", before, name, text); err != nil {
			return err
		}
		before = ",\n "
	}
	end := "\n}"
	if len(entries) == 0 {
		end = "{}"
	}
	_, err := io.WriteString(to, end)
	return err
}
