package sim

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/sim/model"
)

// An upheaval is a configuration like the first, but for one thing that is wholly different. Between the two very much changes
// at once, and so often that reloads find everything that can be under way.
type upheaval uint8

const (
	noUpheaval upheaval = iota
	unshared            // no streams are imported: all shadows come and go
	unserved            // no services are exported: all requests under way end
	moved               // most users of each account are in the next one, and all their subscriptions are
	permitted           // most users may get what they might not, and the other way round, with many subscriptions to find that out for
	numUpheavals
)

var upheavalOdds = [numUpheavals]uint32{noUpheaval: 1, unshared: 2, unserved: 3, moved: 4, permitted: 2}

const (
	// shadowTurns bounds TurnWork where shadows come and go: that takes many turns.
	shadowTurns = 3
)

// movedTurns bounds TurnWork where users move: connections follow over many turns, and messages have to wait for it.
var movedTurns = [...]int{3, 20, 200}

// upheave perhaps adds one.
func (d draw) upheave(t *tenants, c *config) {
	r := t.versions[0].Clone()
	what := upheaval(d.source.Pick(d.key(cfgUpheaval), upheavalOdds[:]))
	if what == permitted {
		d.permitOthers(t.versions[0], r)
	}
	some := what == moved || what == permitted
	for i := range r.Accounts {
		a := &r.Accounts[i]
		exports, imports := len(a.Exports), len(a.Imports)
		switch what {
		case noUpheaval, permitted:
		case unshared:
			a.Imports = slices.DeleteFunc(a.Imports, func(im model.Import) bool { return im.Kind == model.Stream })
		case unserved:
			a.Exports = slices.DeleteFunc(a.Exports, func(x model.Export) bool { return x.Kind == model.Service })
			a.Imports = slices.DeleteFunc(a.Imports, func(im model.Import) bool { return im.Kind == model.Service })
		case moved:
			from := &t.versions[0].Accounts[(i+1)%len(r.Accounts)]
			a.Users = append(slices.Clone(a.Users[:1]), from.Users[1:]...)
		}
		some = some || len(a.Exports) < exports || len(a.Imports) < imports
	}
	if !some {
		return
	}
	t.versions, t.upheaval = append(t.versions, r), what
	c.clients = max(c.clients, 12)
	switch what {
	case noUpheaval:
	case unserved:
		c.kinds[kindRequester] += 8
		c.kinds[kindResponder] += 8
		return
	case unshared:
		c.engine.TurnWork = 1 + int(d.source.Below(d.key(cfgUpheavalTurns), shadowTurns))
		c.kinds[kindStorm] += 4
		c.kinds[kindHostile] += 2
	case permitted:
		c.collect(int(d.source.Below(d.key(cfgUpheavalTurns), uint64(len(movedTurns)))))
	case moved:
		c.clients = max(c.clients, 16)
		c.engine.TurnWork = min(c.engine.TurnWork, movedTurns[d.source.Below(d.key(cfgUpheavalTurns), uint64(len(movedTurns)))])
	}
	c.kinds[kindPublisher] += 8
	c.kinds[kindSubscriber] += 8
	c.kinds[kindIdle] += 4
}

// share finds what users publish that others import, where imports come and go.
func (t *tenants) share(c *config) {
	t.shared = make([][]string, len(t.users))
	if t.upheaval != unshared {
		return
	}
	first := t.versions[0]
	for i, name := range t.users {
		_, account := first.User(name)
		for j := range first.Accounts {
			for _, im := range first.Accounts[j].Imports {
				if im.Kind != model.Stream || im.Account != account {
					continue
				}
				for _, subj := range c.subjects {
					if model.Meet(subj, im.Subject) {
						t.shared[i] = append(t.shared[i], subj)
					}
				}
			}
		}
	}
}

// concerned reports whether a user has a part in the upheaval: every other client in one that the others have not.
func (t *tenants) concerned(user int, c *client) bool {
	may, publishes := t.open[user], c.index%2 == 0
	switch {
	case t.overheard:
		return t.overhears(user, c)
	case t.upheaval == permitted:
		return strings.HasSuffix(t.users[user], "0") != (c.kind == kindCollector) // the first user of each account is as it was
	case t.upheaval == unshared && publishes:
		return may && len(t.shared[user]) > 0
	case t.upheaval == unshared:
		return may && len(t.heard[user]) > 0
	case t.upheaval == unserved && c.kind == kindRequester:
		return may && len(t.asked[user]) > 0
	case t.upheaval == unserved && c.kind == kindResponder:
		return may && len(t.served[user]) > 0
	}
	return false
}
