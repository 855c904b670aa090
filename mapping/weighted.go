package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Destination is one of the destinations of a source.
type Destination struct {
	Subject string // the template
	Weight  int    // percent, 0 to 100
	Cluster string // the only cluster whose servers use it; "" for all that have none of their own
}

// Outcome says what became of a subject.
type Outcome uint8

// The outcomes of a mapping.
const (
	Unmatched Outcome = iota // no source matches: the subject stays
	Mapped                   // rewritten
	Kept                     // the source matches, and this message's share keeps its subject
	Lost                     // the message is to be dropped
)

// Weighted is a source with its destinations, for one server. It never changes
// and may be shared.
type Weighted struct {
	source  *Transform // matches the source; its result is not used
	choices []choice   // by rising bound
	kept    bool       // what no choice takes keeps its subject, else it is lost
	random  bool
}

// choice is a destination and the percentage below which a draw takes it.
type choice struct {
	below     uint64
	transform *Transform
}

// CompileWeighted returns the mapping of source on a server of the given
// cluster ("" for none). Destinations of other clusters are checked and left
// out. If some destination names the cluster, only those that do count.
//
// Weights that sum to less than 100 leave a share of the messages. Whether
// these keep their subject or are lost depends on whether source itself is
// among the destinations, for whatever cluster: if it is, what is left is lost.
// It counts as itself only in the same spelling, "foo.*" not as "foo.$1".
//
// The errors: those of Compile, ErrWeights, 'duplicate entry for "x"', and
// 'Invalid weight 101 for mapping destination'.
func CompileWeighted(source string, list []Destination, cluster string) (*Weighted, error) {
	match, err := Compile(source, matcher(source))
	if err != nil {
		return nil, err
	}
	w := &Weighted{source: match, kept: true}
	var all, own []choice
	for i, d := range list {
		if err := CheckWeight(int64(d.Weight)); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list[:i], func(o Destination) bool { return o.Subject == d.Subject }) {
			return nil, fmt.Errorf("duplicate entry for %q", d.Subject)
		}
		w.kept = w.kept && d.Subject != source
		t, err := Compile(source, d.Subject)
		if err != nil {
			return nil, err
		}
		switch d.Cluster {
		case "":
			all = append(all, choice{uint64(d.Weight), t})
		case cluster:
			own = append(own, choice{uint64(d.Weight), t})
		}
	}
	if err := checkSums(list); err != nil {
		return nil, err
	}
	if own != nil {
		all = own
	}
	w.take(all)
	return w, nil
}

// matcher returns a valid destination for source: what matters is the match.
func matcher(source string) string {
	if source == ">" || strings.HasSuffix(source, ".>") {
		return ">"
	}
	return "x"
}

// checkSums checks the sums of weights, cluster by cluster.
func checkSums(list []Destination) error {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Destination) int { return cmp.Compare(a.Cluster, b.Cluster) })
	sum := 0
	for i, d := range sorted {
		if i > 0 && sorted[i-1].Cluster != d.Cluster {
			sum = 0
		}
		if sum += d.Weight; sum > 100 {
			return ErrWeights
		}
	}
	return nil
}

// take turns weights into bounds and drops what is never chosen.
func (w *Weighted) take(list []choice) {
	sum := uint64(0)
	for _, c := range list {
		if c.below == 0 {
			continue
		}
		sum += c.below
		w.choices = append(w.choices, choice{sum, c.transform})
		w.random = w.random || c.transform.random || sum != 100 || len(list) > 1
	}
}

// Source returns the pattern of the subjects that are mapped.
func (w *Weighted) Source() string { return w.source.source }

// NeedsRandom reports whether the result depends on the random number.
func (w *Weighted) NeedsRandom() bool { return w.random }

// Match reports whether w speaks of subj.
func (w *Weighted) Match(subj []byte) bool { return w.source.Match(subj) }

// Apply maps subj and appends the result to dst. dst stays as it is for all
// outcomes but Mapped. draw decides; each of its 64 bits should be random.
func (w *Weighted) Apply(dst, subj []byte, draw uint64) ([]byte, Outcome) {
	share := draw % 100
	for i := range w.choices {
		if c := &w.choices[i]; share < c.below {
			dst, ok := c.transform.Apply(dst, subj, draw)
			if !ok {
				return dst, Unmatched
			}
			return dst, Mapped
		}
	}
	if !w.Match(subj) {
		return dst, Unmatched
	}
	if w.kept {
		return dst, Kept
	}
	return dst, Lost
}

// CheckWeight checks a weight given as a number. The error is nats-server's.
func CheckWeight(n int64) error {
	if n < 0 || n > 100 {
		return fmt.Errorf("Invalid weight %d for mapping destination", n)
	}
	return nil
}

// ParseWeight reads a weight given as text, "50%" or "50". The error is
// nats-server's, which names the text without its percent sign.
func ParseWeight(text string) (int, error) {
	text = strings.TrimSuffix(text, "%")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("Invalid weight %q for mapping destination", text)
	}
	return n, CheckWeight(int64(n))
}
