package sublist

import (
	"errors"

	"github.com/natsd/natsd/subject"
)

// ErrInvalidSubject is returned for a subject that no subscription may have.
var ErrInvalidSubject = errors.New("sublist: invalid subject")

// DefaultCacheSize is a reasonable Options.CacheSize for the subscriptions of
// an account.
const DefaultCacheSize = 1024

// Options shape a Sublist.
type Options struct {
	// CacheSize is the largest number of results kept for later matches.
	// Zero or less: none.
	CacheSize int

	// CacheWeight is the largest number of subscriptions that these results
	// name in all, unless a single one names more; default 1M, some 8 MB.
	CacheWeight int

	// Seed enters the hash that places results in the cache. It changes no
	// answer, though Steps depend on it. A server draws it at random, so
	// that nobody can choose subjects that fall into one place.
	Seed uint64
}

// Sublist is a set of subscriptions. The zero value is not usable; see New.
type Sublist[T comparable] struct {
	literals map[string]*leaf[T]
	patterns node[T] // root of the trie of wildcard subjects
	slots    slots[T]
	cache    cache[T]
	nothing  *Result[T] // what a subject with an empty token reaches
	scratch  []*leaf[T] // leaves of the match under way
	lastID   uint64     // of the youngest subscription
	subs     int        // subscriptions held
	wild     int        // leaves in the trie
	tally    tally
}

// New returns an empty Sublist.
func New[T comparable](o Options) *Sublist[T] {
	s := &Sublist[T]{literals: make(map[string]*leaf[T])}
	s.cache.init(o)
	s.nothing = &Result[T]{place: always}
	return s
}

// Handle names one subscription of one Sublist. The zero Handle names none. A
// Handle stays harmless after its subscription was removed.
type Handle[T comparable] struct {
	leaf  *leaf[T]
	group *group[T] // nil: a plain subscription
	id    uint64
}

// Subject returns the subject of the subscription, "" for the zero Handle. All
// subscriptions with the same subject share one string.
func (h Handle[T]) Subject() string {
	if h.leaf == nil {
		return ""
	}
	return h.leaf.subject
}

// Queue returns the name of the queue group, "" for a plain subscription. The
// members under one subject share one string.
func (h Handle[T]) Queue() string {
	if h.group == nil {
		return ""
	}
	return h.group.name
}

// IsZero reports whether h is the zero Handle.
func (h Handle[T]) IsZero() bool { return h.leaf == nil }

// Insert adds v under subj, as a member of the queue group unless queue is
// empty. Both slices are borrowed until Insert returns. The same value may be
// inserted any number of times; each has its own Handle. The one error is
// ErrInvalidSubject, and then nothing has changed.
func (s *Sublist[T]) Insert(subj, queue []byte, v T) (Handle[T], error) {
	kind := subject.Check(subj)
	if kind == subject.Invalid {
		return Handle[T]{}, ErrInvalidSubject
	}
	l := s.leafFor(subj, kind)
	s.tally.steps += changeSteps(l.subject)
	s.lastID++
	s.subs++
	s.tally.inserts++
	h := Handle[T]{leaf: l, id: s.lastID}
	if len(queue) == 0 {
		l.addPlain(v, h.id)
	} else {
		h.group = l.addMember(queue, v, h.id)
	}
	s.changed(l)
	return h, nil
}

// leafFor returns the leaf of subj, a new one if there is none yet.
func (s *Sublist[T]) leafFor(subj []byte, kind subject.Kind) *leaf[T] {
	if kind == subject.Literal {
		if l := s.literals[string(subj)]; l != nil {
			return l
		}
		l := &leaf[T]{subject: string(subj)}
		s.literals[l.subject] = l
		s.slots.put(l)
		return l
	}
	l, isNew := s.patterns.insert(subj)
	if isNew {
		s.wild++
		s.slots.put(l)
	}
	return l
}

// Remove takes the subscription named by h out. It returns false, and changes
// nothing, when there is no such subscription (any more). h is of this Sublist.
func (s *Sublist[T]) Remove(h Handle[T]) bool {
	l := h.leaf
	if l == nil || !l.remove(h.group, h.id) {
		return false
	}
	s.subs--
	s.tally.steps += changeSteps(l.subject)
	s.tally.removes++
	s.changed(l)
	if l.empty() {
		s.dropLeaf(l)
	}
	return true
}

// dropLeaf forgets a leaf that has no subscription left.
func (s *Sublist[T]) dropLeaf(l *leaf[T]) {
	s.slots.drop(l)
	if l.wild() {
		s.wild--
		s.patterns.remove(l.subject)
		return
	}
	delete(s.literals, l.subject)
	if len(s.literals) == 0 {
		// A map keeps its size for ever, so an empty one is replaced.
		s.literals = make(map[string]*leaf[T])
	}
}

// changeSteps is what it costs to find or place a subject, which is read several
// times. A short one is part of what any change costs.
func changeSteps(subj string) uint64 { return uint64(2 * len(subj) / stepBytes) }

// changed invalidates the results that leaf l is or should be part of.
func (s *Sublist[T]) changed(l *leaf[T]) {
	if l.wild() {
		s.cache.patternChanged(l.subject)
	} else {
		s.cache.literalChanged(l.subject)
	}
}

// Forget makes all results stale: who asks again for a subject has it looked up.
func (s *Sublist[T]) Forget() { s.cache.patternChanged(">") }

// Count returns the number of subscriptions.
func (s *Sublist[T]) Count() int { return s.subs }
