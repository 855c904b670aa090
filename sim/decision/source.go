package decision

import "math/bits"

// Class says what sort of thing an actor is.
type Class uint8

// Classes of actors.
const (
	World  Class = iota // the run as a whole
	Node                // a simulated server
	Client              // a simulated client
	Link                // one direction of one connection, or a pair of hosts
	Disk                // a simulated disk
	nClasses
)

// Actor names who a choice is about: a class and an index within it, below 2^40.
type Actor uint64

// Of is the actor with that index in the class. Bits of the index above the 40th are lost.
func Of(class Class, index uint64) Actor { return Actor(uint64(class)<<40 | index&(1<<40-1)) }

// Class is the class of the actor.
func (a Actor) Class() Class { return Class(a >> 40) }

// Index is the index of the actor in its class.
func (a Actor) Index() uint64 { return uint64(a) & (1<<40 - 1) }

// Key says what a choice is for. Two choices of one run never have the same key.
type Key struct {
	Kind    Kind
	Purpose uint32 // what for, within the kind: a stream of occurrences of its own
	Actor   Actor
	N       uint64 // occurrence: the nth slot, operation, segment, …
}

// Record is one choice that was not made by default.
type Record struct {
	Key
	Range uint64 // how many values there were
	Value uint64 // the one taken, 1..Range-1
}

// Source makes choices from a seed, or repeats those of a log.
type Source struct {
	seed   uint64
	replay map[Key]*replayed // nil: choose by seed
	among  map[Key][]uint64  // what may be chosen, where that is not everything
	record bool
	log    []Record
	made   uint64
	drift  []Drift
}

type replayed struct {
	Record
	asked bool
}

// Drift is a choice of a log that no longer applies to the run that replays it.
type Drift struct {
	Record
	Why string
}

// FromSeed makes every choice a function of the seed.
func FromSeed(seed uint64) *Source { return &Source{seed: seed} }

// FromLog repeats the choices of a log; what it lacks takes the default.
func FromLog(records []Record) *Source {
	s := &Source{replay: make(map[Key]*replayed, len(records))}
	for _, r := range records {
		s.replay[r.Key] = &replayed{Record: r}
	}
	return s
}

// Among has a choice that is yet to be made by the seed made among some of its values only, evenly; those that turn out not to be
// among its values count as the last that is. It is recorded like any other, so that a log repeats it by itself. A source from a
// log ignores it.
func (s *Source) Among(k Key, values ...uint64) {
	if s.among == nil {
		s.among = make(map[Key][]uint64)
	}
	s.among[k] = values
}

// Keep starts recording: Records returns what was chosen otherwise than by default from here on.
func (s *Source) Keep() { s.record = true }

// Records is the log so far, in the order in which the choices were made. The caller must not change it.
func (s *Source) Records() []Record { return s.log }

// Made counts all choices, defaults included.
func (s *Source) Made() uint64 { return s.made }

// Below chooses among n values, 0 to n-1, evenly. The default is 0. n must be positive.
func (s *Source) Below(k Key, n uint64) uint64 {
	if s.replay != nil {
		return s.repeat(k, n)
	}
	if v, ok := s.forced(k, n); ok {
		return s.keep(k, n, v)
	}
	hi, _ := bits.Mul64(s.hash(k), n)
	return s.keep(k, n, hi)
}

// Range chooses a number from lo to hi, both included: fewer than 2^63 of them. The default is lo. Where hi is
// not above lo no choice is made.
func (s *Source) Range(k Key, lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	return lo + int64(s.Below(k, uint64(hi-lo)+1))
}

// Chance is true in perMillion of a million cases, always from a million on. The default is false.
func (s *Source) Chance(k Key, perMillion uint32) bool {
	if s.replay != nil {
		return s.repeat(k, 2) == 1
	}
	if v, ok := s.forced(k, 2); ok {
		return s.keep(k, 2, v) == 1
	}
	hi, _ := bits.Mul64(s.hash(k), 1_000_000)
	if hi >= uint64(perMillion) {
		s.made++
		return false
	}
	return s.keep(k, 2, 1) == 1
}

// Pick chooses an index into weights in proportion to them. The default is 0. It panics if all weights are zero.
func (s *Source) Pick(k Key, weights []uint32) int {
	if s.replay != nil {
		return int(s.repeat(k, uint64(len(weights))))
	}
	if v, ok := s.forced(k, uint64(len(weights))); ok {
		return int(s.keep(k, uint64(len(weights)), v))
	}
	var sum uint64
	for _, w := range weights {
		sum += uint64(w)
	}
	at, _ := bits.Mul64(s.hash(k), sum)
	for i, w := range weights {
		if at < uint64(w) {
			return int(s.keep(k, uint64(len(weights)), uint64(i)))
		}
		at -= uint64(w)
	}
	panic("decision: Pick without a positive weight")
}

// Noise returns bits that are a function of seed and key but no choice: content that no property depends on (the bytes
// of a payload, a node's entropy). It is not recorded and is the same in every replay of every log.
func Noise(k Key) uint64 { return mix(0x9e3779b97f4a7c15, k) }

// forced is the choice of a key that Among was told of, of n values.
func (s *Source) forced(k Key, n uint64) (v uint64, ok bool) {
	if s.among == nil {
		return 0, false
	}
	values := s.among[k]
	if len(values) == 0 {
		return 0, false
	}
	at, _ := bits.Mul64(s.hash(k), uint64(len(values)))
	return min(values[at], n-1), true
}

func (s *Source) keep(k Key, n, v uint64) uint64 {
	s.made++
	if s.record && v != 0 {
		s.log = append(s.log, Record{Key: k, Range: n, Value: v})
	}
	return v
}

func (s *Source) repeat(k Key, n uint64) uint64 {
	s.made++
	r := s.replay[k]
	if r == nil {
		return 0
	}
	r.asked = true
	v := r.Value
	if v >= n {
		s.drift = append(s.drift, Drift{Record: r.Record, Why: "the choice has fewer values now"})
		v = n - 1
	}
	if s.record && v != 0 {
		s.log = append(s.log, Record{Key: k, Range: n, Value: v})
	}
	return v
}

// Drifted lists the choices of the replayed log that did not apply: out of range, or never asked for. Call it after the
// run. records is the log given to FromLog; the order is the log's.
func (s *Source) Drifted(records []Record) []Drift {
	out := append([]Drift(nil), s.drift...)
	for _, r := range records {
		if p := s.replay[r.Key]; p != nil && !p.asked {
			out = append(out, Drift{Record: r, Why: "the run no longer asks for it"})
		}
	}
	return out
}

func (s *Source) hash(k Key) uint64 { return mix(s.seed, k) }

// mix folds the key into the seed with the multiply-fold step of wyhash: 128-bit product, halves combined.
func mix(seed uint64, k Key) uint64 {
	h := fold(seed^0xa0761d6478bd642f, uint64(k.Kind)<<32^uint64(k.Purpose)^0xe7037ed1a0b428db)
	h = fold(h^0x8ebc6af09c88c6e3, uint64(k.Actor)^0x589965cc75374cc3)
	return fold(h^0x1d8e4e27c47d124f, k.N^0xeb44accab455d165)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
