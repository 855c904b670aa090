package engine

import (
	"slices"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// Of the exports that cover what an account imports, the most specific one decides: what is exported to some accounts stays theirs
// whatever wider export there is. Where the most specific ones say different things of the subject (a.* and *.b of a.b), or the
// same subject is exported more than once, each of them must allow it; of one subject, those that name who may are one.

// exported finds the export by which a may import; -1 if there is none.
func (d *draft) exported(a *draft, im *importDraft) int {
	found, covering := -1, d.covering(&im.Import)
	for _, i := range covering {
		if d.narrower(i, covering) {
			continue
		}
		by := d.opened(i, covering, a, im)
		if by < 0 {
			return -1
		}
		if found < 0 {
			found = by
		}
	}
	return found
}

// exportsFew is up to how many exports are looked at one after another.
const exportsFew = 16

// covering lists the exports that are of all that is imported, in their order. Where there are many, an index finds those that may be: it
// takes the imported subject for a literal one, which reaches what covers it, and perhaps others.
func (d *draft) covering(im *config.Import) (which []int) {
	if len(d.Exports) <= exportsFew {
		for i := range d.Exports {
			if d.covers(i, im) {
				which = append(which, i)
			}
		}
		return which
	}
	if d.index == nil {
		d.index = sublist.New[int](sublist.Options{})
		for i := range d.Exports {
			_, _ = d.index.Insert([]byte(d.Exports[i].Subject), nil, i) // what is no pattern covers nothing
		}
	}
	for _, i := range d.index.Match([]byte(im.Subject)).Plain {
		if d.covers(i, im) {
			which = append(which, i)
		}
	}
	slices.Sort(which)
	return which
}

// covers reports whether an export is of all that is imported.
func (d *draft) covers(i int, im *config.Import) bool {
	x := &d.Exports[i]
	return x.Kind == im.Kind && subject.ValidPattern(x.Subject) && subject.IsSubset(im.Subject, x.Subject)
}

// narrower reports whether another export that covers what is imported is more specific than one.
func (d *draft) narrower(i int, covering []int) bool {
	x := &d.Exports[i]
	return slices.ContainsFunc(covering, func(j int) bool {
		y := &d.Exports[j]
		return y.Subject != x.Subject && subject.IsSubset(y.Subject, x.Subject)
	})
}

// opened finds, among the exports of one subject, that which allows a to import; -1 if none does. A public one does only if all
// are: that others are named takes it back.
func (d *draft) opened(which int, covering []int, a *draft, im *importDraft) int {
	public, named := -1, false
	for _, i := range covering {
		x := &d.Exports[i]
		if x.Subject != d.Exports[which].Subject {
			continue
		}
		if x.Public && x.TokenPosition == 0 {
			if public < 0 {
				public = i
			}
			continue
		}
		if named = true; mayImport(x, a, im) {
			return i
		}
	}
	if named {
		return -1
	}
	return public
}

// mayImport reports whether an export that is not public is for a.
func mayImport(x *config.Export, a *draft, im *importDraft) bool {
	if n := x.TokenPosition; n > 0 {
		from, to, ok := subject.Token(im.Subject, n-1)
		return ok && (im.Subject[from:to] == a.Name || im.Subject[from:to] == a.NKey)
	}
	return slices.Contains(x.Accounts, a.Name) || slices.Contains(im.Activated, x.Subject)
}
