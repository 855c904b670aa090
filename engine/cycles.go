package engine

import (
	"slices"
	"strconv"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/subject"
)

// A cycle is that a message comes by an import again and again. That imports lead back to an account is none, if what comes back
// does not go on by the same import, or does so a few times only, because something else becomes of its subject each time. What has
// come by an import of what the account exports itself does not go on by the same one.
//
// Whether there is one is asked twice. First it is followed which imports of an account concern what another brings, whatever
// others brought that: it says little, but an import has to be looked at once only, however many ways lead to it. Where that leads
// back, the subjects are followed from import to import, of which there may be very many: a bounded number.

// checkCycles refuses imports by which a message would come again and again.
func (s *ruleSet) checkCycles(start int) {
	c := cycles{s: s, start: start}
	for i := range s.accounts[start].services {
		im := &s.accounts[start].services[i]
		if why := c.refuse(im, config.Service); why != "" {
			s.wrong(im.Pos, "Error adding service import %q: %s", im.Subject, why)
		}
	}
	for i := range s.accounts[start].streams {
		im := &s.accounts[start].streams[i]
		if why := c.refuse(im, config.Stream); why != "" {
			s.wrong(im.Pos, "Error adding stream import %q: %s", im.Subject, why)
		}
	}
}

// dropCycles takes those imports out of an account by which a message would come again and again.
func (s *ruleSet) dropCycles(at int) {
	a, c := &s.accounts[at], cycles{s: s, start: at}
	drop := func(list *[]importDraft, kind config.ExportKind) {
		for i := 0; i < len(*list); {
			im := &(*list)[i]
			why := c.refuse(im, kind)
			if why == "" {
				i++
				continue
			}
			s.wrong(im.Pos, "Error adding import %q: %s", im.Subject, why)
			*list = slices.Delete(*list, i, i+1)
		}
	}
	drop(&a.services, config.Service)
	drop(&a.streams, config.Stream)
}

// cycles looks where the imports of one account lead.
type cycles struct {
	s     *ruleSet
	start int
	// harmless are imports that lead to nothing wrong, and behind how many others: there may be very many ways to one.
	harmless map[*importDraft]int

	steps int // taken in following subjects, of all imports of the account
}

// cycleSteps is how many steps are taken at most for one account: of imports that lead back on more ways it is said that they form
// cycles.
const cycleSteps = 50_000

// formsCycle is what is said of a cycle.
const formsCycle = "import forms a cycle"

// tooLong is what is said of imports that follow one another further than messages are passed on.
func tooLong() string { return "more than " + strconv.Itoa(hopsMax) + " imports follow one another" }

// refuse says what is wrong with where an import leads; empty: nothing.
func (c *cycles) refuse(im *importDraft, kind config.ExportKind) string {
	why := c.follow(im, kind, 0)
	if why == "" {
		return ""
	}
	w := walk{cycles: c, from: im, kind: kind, why: why, seen: make(map[place]int)}
	if why = w.follow(im, im.Subject, 0, false); why == "" && kind == config.Stream {
		c.s.round = true
	}
	return why
}

// next are the imports of one kind of the account that an import is from.
func (c *cycles) next(im *importDraft, kind config.ExportKind) []importDraft {
	a := &c.s.accounts[c.s.byName[im.Account]]
	if kind == config.Stream {
		return a.streams
	}
	return a.services
}

// follow follows the imports of one kind from im on, which is behind so many others, as long as they concern its subject.
func (c *cycles) follow(im *importDraft, kind config.ExportKind, hops int) string {
	if c.s.byName[im.Account] == c.start {
		return formsCycle
	}
	if hops == hopsMax {
		return tooLong()
	}
	if before, ok := c.harmless[im]; ok && before >= hops {
		return ""
	}
	next := c.next(im, kind)
	for i := range next {
		if &next[i] == im || !subject.Collide(next[i].local, im.Subject) {
			continue
		}
		if why := c.follow(&next[i], kind, hops+1); why != "" {
			return why
		}
	}
	if hops > 0 {
		if c.harmless == nil {
			c.harmless = make(map[*importDraft]int)
		}
		c.harmless[im] = hops
	}
	return ""
}

// walk follows, from one import on, which subjects come by others.
type walk struct {
	*cycles
	from *importDraft
	kind config.ExportKind
	why  string        // what is said if there are too many ways
	seen map[place]int // behind how many imports nothing wrong follows
}

// place is what has come to an account: by that import, all subjects that match.
type place struct {
	by      *importDraft
	subject string
}

// follow follows a subject, or pattern, that has come by im, which is behind so many imports. again: it has come by the first one
// before.
func (w *walk) follow(im *importDraft, subj string, hops int, again bool) string {
	if hops == hopsMax && again {
		return formsCycle
	}
	if hops == hopsMax {
		return tooLong()
	}
	at := place{im, subj}
	if before, ok := w.seen[at]; ok && before >= hops {
		return ""
	}
	next := w.next(im, w.kind)
	if w.steps += len(next); w.steps > cycleSteps {
		return w.why
	}
	for i := range next {
		there, ok := next[i].takes(subj)
		if !ok || &next[i] == im {
			continue
		}
		if why := w.follow(&next[i], there, hops+1, again || &next[i] == w.from); why != "" {
			return why
		}
	}
	w.seen[at] = hops
	return ""
}

// takes is what the import makes, in the other account, of those subjects here that match a pattern.
func (im *importDraft) takes(subj string) (there string, ok bool) {
	both, ok := subject.Intersect(subj, im.local)
	if !ok || im.there == nil {
		return both, ok
	}
	b, ok := im.there.Apply(nil, []byte(both), 0)
	if !ok {
		return im.Subject, true // a wildcard for a token, which it does not take apart
	}
	return string(b), true
}
