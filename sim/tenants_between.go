package sim

import (
	"slices"

	"github.com/natsd/natsd/sim/model"
)

// In some runs, what is asked in one account of a service of another has third parties near: an account that imports, as a stream,
// what requests come to, with members in the same queue groups, and a service that the account which asks imports on the very
// subjects that answers come to. Neither is to notice anything of request or answer.

const (
	betweenSubject = "t.t"
	betweenAnswers = "asked.*.*.*" // as many wildcards as a reply subject has tokens behind its prefix
)

// between adds third parties: the first account serves the second, and the last hears it. If it must be served, what is in the way
// of that is taken away.
func between(r *model.Rules, must bool) {
	first, second, last := &r.Accounts[0], &r.Accounts[1], &r.Accounts[len(r.Accounts)-1]
	if must {
		second.Imports = slices.DeleteFunc(second.Imports, func(im model.Import) bool { return im.Kind == model.Service })
	}
	for _, x := range []model.Export{
		{Kind: model.Service, Subject: betweenSubject, Response: model.Streamed},
		{Kind: model.Service, Subject: betweenAnswers},
		{Kind: model.Stream, Subject: betweenSubject},
	} {
		if exported(first, x) {
			return
		}
		first.Exports = append(first.Exports, x)
	}
	for _, im := range []struct {
		to *model.Account
		model.Import
	}{
		{second, model.Import{Kind: model.Service, Account: first.Name, Subject: betweenSubject}},
		{second, model.Import{Kind: model.Service, Account: first.Name, Subject: betweenAnswers, To: inboxReply + "$1.$2.$3"}},
		{last, model.Import{Kind: model.Stream, Account: first.Name, Subject: betweenSubject}},
	} {
		if r.ExportOf(im.to.Name, &im.Import) != nil && !imported(im.to, &im.Import) {
			im.to.Imports = append(im.to.Imports, im.Import)
		}
	}
}
