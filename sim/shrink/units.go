package shrink

import "github.com/natsd/natsd/sim/decision"

// unit is decisions that are taken out together.
type unit []decision.Key

// label says which unit a decision belongs to; ok is false if to none.
type label func(r decision.Record) (name [2]uint64, ok bool)

// byActor takes everything about one actor of a class as a unit.
func byActor(class decision.Class) label {
	return func(r decision.Record) ([2]uint64, bool) {
		return [2]uint64{uint64(r.Actor)}, r.Actor.Class() == class
	}
}

// actorOf takes what a group has about one actor as a unit.
func actorOf(g decision.Group) label {
	return func(r decision.Record) ([2]uint64, bool) {
		return [2]uint64{uint64(r.Actor)}, r.Kind.Group() == g
	}
}

// kindOf takes all decisions of one kind and purpose as a unit.
func kindOf(g decision.Group) label {
	return func(r decision.Record) ([2]uint64, bool) {
		return [2]uint64{uint64(r.Kind), uint64(r.Purpose)}, r.Kind.Group() == g
	}
}

// single takes each decision of a group as a unit.
func single(g decision.Group) label {
	n := uint64(0)
	return func(r decision.Record) ([2]uint64, bool) {
		n++
		return [2]uint64{n}, r.Kind.Group() == g
	}
}

// units cuts the decisions into units, in the order of their first decisions.
func (s *shrinker) units(of label) []unit {
	var units []unit
	at := make(map[[2]uint64]int)
	for _, r := range s.records {
		name, ok := of(r)
		if !ok {
			continue
		}
		i, known := at[name]
		if !known {
			i = len(units)
			at[name] = i
			units = append(units, nil)
		}
		units[i] = append(units[i], r.Key)
	}
	return units
}

// reduce takes out as many units as it can, half of them at once at first, single ones in the end. Units that a run turned
// out not to ask for vanish on the way, because their decisions are no longer there.
func (s *shrinker) reduce(units []unit) {
	for size := (len(units) + 1) / 2; size > 0 && len(units) > 0; size = halved(size) {
		for end := len(units); end > 0 && s.left(); { // the last first: what comes late is needed least
			begin := max(end-size, 0)
			if s.remove(units[begin:end]) {
				units = s.present(append(append([]unit(nil), units[:begin]...), units[end:]...))
			}
			end = min(begin, len(units))
		}
	}
}

// halved is half of a size, rounded up, until that is one.
func halved(size int) int {
	if size == 1 {
		return 0
	}
	return (size + 1) / 2
}

func (s *shrinker) remove(units []unit) bool {
	drop := make(map[decision.Key]bool)
	for _, u := range units {
		for _, k := range u {
			drop[k] = true
		}
	}
	smaller := without(s.records, func(r decision.Record) bool { return drop[r.Key] })
	return len(smaller) < len(s.records) && s.try(smaller, s.duration)
}

// present drops the units of which no decision is left.
func (s *shrinker) present(units []unit) []unit {
	there := make(map[decision.Key]bool, len(s.records))
	for _, r := range s.records {
		there[r.Key] = true
	}
	kept := units[:0]
	for _, u := range units {
		for _, k := range u {
			if there[k] {
				kept = append(kept, u)
				break
			}
		}
	}
	return kept
}
