package engine

// words are what somebody says about accounts: a JWT, a deletion. Jobs read these, and end in any order; what was said later counts
// all the same.
type words struct {
	said    uint64              // so far: they are numbered from 1 on
	open    map[uint64]struct{} // may still come to count
	oldest  uint64              // all below are not open
	last    map[string]uint64   // the last one that counts about an account, where one before it may still be open
	forgets int                 // as many in last as have it looked through for those that need not be known any more
}

// wordsKept is how many accounts' last words are kept, at least, before it is looked which of them matter no more.
const wordsKept = 64

func newWords() words {
	return words{open: make(map[uint64]struct{}), oldest: 1, last: make(map[string]uint64), forgets: wordsKept}
}

// next numbers a word. It is open until settled.
func (w *words) next() uint64 {
	w.said++
	w.open[w.said] = struct{}{}
	return w.said
}

// settled notes that a word will not come to count any more where it does not yet.
func (w *words) settled(word uint64) {
	delete(w.open, word)
	for w.oldest <= w.said {
		if _, open := w.open[w.oldest]; open {
			break
		}
		w.oldest++
	}
	if len(w.open) == 0 && len(w.last) > wordsKept {
		w.last, w.forgets = make(map[string]uint64), wordsKept
	}
}

// takes notes that a word about an account counts from now on; false: a later one does already, so this one must not. It
// must be open.
func (w *words) takes(key string, word uint64) bool {
	if w.overtaken(key, word) {
		return false
	}
	w.note(key, word)
	return true
}

// overtaken reports whether a later word about an account counts. The word must be open.
func (w *words) overtaken(key string, word uint64) bool { return word < w.last[key] }

// withdraw undoes takes: the word does not count after all, but the one that did before. It must be open.
func (w *words) withdraw(key string, word, before uint64) {
	if w.last[key] == word {
		w.last[key] = before
	}
}

// keeping is what becomes of words that count only once they are kept, which happens in their order.
type keeping struct {
	asked int    // of them it is not known yet
	last  uint64 // the last one that was kept; before the first, the one that counted before

	then []func() // for when it is known of all
}

// begin notes that a word is to be kept, and before counted until then.
func (k *keeping) begin(before uint64) {
	if k.asked == 0 {
		k.last = before
	}
	k.asked++
}

// done notes whether the first word that was to be kept is, and returns the one that counts if that is not.
func (k *keeping) done(word uint64, kept bool) uint64 {
	k.asked--
	if kept {
		k.last = word
	}
	return k.last
}

// follow does what was to follow once it is known of all words.
func (k *keeping) follow() {
	if k.asked > 0 {
		return
	}
	then := k.then
	k.then = nil
	for _, f := range then {
		f()
	}
}

// note keeps the last word about an account, and forgets those of others that none that is open could follow.
func (w *words) note(key string, word uint64) {
	w.last[key] = word
	if len(w.last) < w.forgets {
		return
	}
	for k, n := range w.last { //natsd:orderfree each goes or stays for itself
		if n < w.oldest {
			delete(w.last, k)
		}
	}
	w.forgets = 2*len(w.last) + wordsKept
}
