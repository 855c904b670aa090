package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A seed draws a world out of everything that there can be, so that what is rare meets what else is rare hardly ever. A focus is
// about one thing: whoever asks for it gets worlds that have that thing, and plenty of it, while the seed goes on drawing all else.
// The choices that it narrows are choices like any others: they stand in the log, which needs no focus to be repeated.

// Focus is something that a run can be made to have. See Foci.
type Focus struct {
	Name     string
	About    string // in a few words
	accounts bool   // there are some
	choices  []narrowed
}

// narrowed are the values, by their places, among which a choice of the configuration is made.
type narrowed struct {
	purpose uint32
	values  []uint64
}

// kindOften is the place of the largest of the weights that a kind of client may have.
const kindOften = 3

// foci are all of them, by name.
var foci = [...]Focus{
	{"accounts", "accounts that share streams and services", true, nil},
	{"activation", "accounts that share by activation tokens, in operator mode", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{2, 3}}, {cfgLapse, []uint64{1}}, {cfgLend, []uint64{1, 2, 3}},
	}},
	{"allotted", "an account that may have only so much, which reloads change", true, []narrowed{{cfgAllotted, []uint64{2}}}},
	{"answers", "accounts with users that may only answer, a few times", true, []narrowed{
		{cfgAnswerers, []uint64{2}}, many(kindRequester), many(kindResponder),
	}},
	{"asking", "one who asks the server very much, and one who asks it little", true, []narrowed{
		{cfgAsking, []uint64{3}}, {cfgTurnWork, []uint64{1, 2, 3, 4}}, {cfgClients, []uint64{0, 1, 2}},
	}},
	{"between", "third accounts near what two have to do with one another", true, []narrowed{
		{cfgBetween, []uint64{2}}, {cfgTenantBackwards, []uint64{0}}, many(kindRequester), many(kindResponder),
	}},
	{"callout", "a service that decides who clients are", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{0}}, {cfgCallout, []uint64{2}},
	}},
	{"claims", "account JWTs that the server keeps, and is told of", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{2, 3}}, {cfgLapse, []uint64{0}}, {cfgArchive, []uint64{1}},
		{cfgAllotted, []uint64{1, 2}},
		{cfgFaulty, []uint64{1, 2}}, {cfgFault + uint32(faultCrash), []uint64{3, 4}},
	}},
	{"crowd", "many who subscribe to one subject, and turns that do little", false, []narrowed{
		{cfgGathering, []uint64{2}}, {cfgTurnWork, []uint64{1, 2, 3}},
	}},
	{"diamond", "imports that bring an account the same by two ways", true, []narrowed{
		{cfgTenantCount, []uint64{1, 2}}, {cfgDiamond, []uint64{2}},
	}},
	{"garbage", "garbage where there are accounts", true, []narrowed{
		{cfgTenantGarbage, []uint64{2}}, many(kindGarbage),
	}},
	{"granting", "who may only answer, as often as reloads say", true, []narrowed{
		{cfgGranting, []uint64{4}}, {cfgTenantVersions, []uint64{1, 2}}, {cfgClients, []uint64{0, 1, 2}},
	}},
	{"half-close", "clients that end their sending side and read on", false, []narrowed{
		many(kindStorm), many(kindSlow), many(kindSubscriber), {cfgSendBuffer, []uint64{2, 3}},
	}},
	{"moves", "reloads at which users change places, and connections that follow slowly", true, []narrowed{
		{cfgUpheaval, []uint64{uint64(moved)}}, {cfgUpheavalTurns, []uint64{0}}, {cfgTenantVersions, []uint64{0}}, {cfgTurnWork, []uint64{0}},
	}},
	{"overheard", "many who hear the answers that others get, at reloads", true, []narrowed{
		{cfgBetween, []uint64{2}}, {cfgTenantBackwards, []uint64{0}}, {cfgTenantVersions, []uint64{1, 2}}, {cfgUpheaval, []uint64{0}},
		{cfgOverheard, []uint64{2}}, {cfgAnswerers, []uint64{0, 1}},
	}},
	{"passwords", "wrong passwords, held against hashes", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{0}}, {cfgCallout, []uint64{0}}, {cfgAuth, []uint64{3, 4}}, many(kindBadAuth),
	}},
	{"permissions", "reloads at which many subscriptions of a connection are permitted other things", true, []narrowed{
		{cfgUpheaval, []uint64{uint64(permitted)}}, {cfgUpheavalTurns, []uint64{0}}, {cfgTenantVersions, []uint64{0}}, {cfgTurnWork, []uint64{0}},
	}},
	{"proxy", "clients that come by proxies", false, []narrowed{
		{cfgProxied, []uint64{3}}, many(kindSilent), many(kindHostile), many(kindStorm),
	}},
	{"reload", "reloads that change accounts", true, []narrowed{
		{cfgTenantVersions, []uint64{1, 2}}, {cfgUpheaval, []uint64{uint64(unshared), uint64(unserved), uint64(moved)}},
	}},
	{"slow", "receivers that are too slow for those who publish", false, []narrowed{
		many(kindSlow), many(kindStaller), many(kindBurst),
		{cfgMaxPending, []uint64{0, 1}}, {cfgStallBytes, []uint64{1, 2}}, {cfgSendBuffer, []uint64{2, 3}}, {cfgSendLarge, []uint64{0}},
		{cfgRecvBuffer, []uint64{2, 3}},
	}},
	{"unanswered", "requests that nobody answers, and many who hear answers", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{0}}, {cfgCallout, []uint64{0}}, {cfgUnanswered, []uint64{5}}, {cfgTurnWork, []uint64{0, 1, 2, 3, 4}},
	}},
	{"terms", "reloads that change credentials and limits", false, []narrowed{
		{cfgTenants, []uint64{0}}, {cfgJWT, []uint64{0}}, {cfgCallout, []uint64{0}}, {cfgTerms, []uint64{2}}, {cfgAuth, []uint64{1, 2, 3, 4}},
	}},
}

func many(k clientKind) narrowed { return narrowed{cfgKind + uint32(k), []uint64{kindOften}} }

// narrows lists all choices that it narrows.
func (f *Focus) narrows() []narrowed {
	choices := slices.Clone(f.choices)
	if f.accounts {
		choices = append(choices, narrowed{cfgTenants, []uint64{1}}, narrowed{cfgTenantsRare, []uint64{0, 1}})
	}
	if !slices.ContainsFunc(choices, func(w narrowed) bool { return w.purpose == cfgUnanswered }) {
		choices = append(choices, narrowed{cfgUnanswered, []uint64{0}}) // which has none of the clients that most are about
	}
	return choices
}

// Foci are all that there are, by name.
func Foci() []Focus { return slices.Clone(foci[:]) }

// FindFoci are those whose names stand in a list with commas between; "": none. It is an error if there is no such focus, or if
// two exclude each other.
func FindFoci(names string) (found []Focus, err error) {
	if names == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(foci[:], func(f Focus) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no focus %q", name)
		}
		found = append(found, foci[i])
	}
	for _, w := range merged(found) {
		if len(w.values) == 0 {
			return nil, fmt.Errorf("%s: these exclude each other", names)
		}
	}
	return found, nil
}

// merged is what several narrow together: to no values of a choice, if they do not agree.
func merged(all []Focus) (choices []narrowed) {
	for _, f := range all {
		for _, w := range f.narrows() {
			i := slices.IndexFunc(choices, func(o narrowed) bool { return o.purpose == w.purpose })
			if i < 0 {
				choices = append(choices, narrowed{w.purpose, slices.Clone(w.values)})
				continue
			}
			choices[i].values = slices.DeleteFunc(choices[i].values, func(v uint64) bool { return !slices.Contains(w.values, v) })
		}
	}
	return choices
}

// focus narrows the choices of a source that are yet to be made.
func (d draw) focus(all []Focus) {
	for _, w := range merged(all) {
		d.source.Among(d.key(w.purpose), w.values...)
	}
}
