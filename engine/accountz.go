package engine

import (
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/monitor"
)

// accountWork is what an account costs of the budget of a query, in connections.
const accountWork = 5

// accountzQuery names the accounts, or tells all about one.
type accountzQuery struct {
	o monitor.AccountzOptions
	a *monitor.Accountz
}

func (q *accountzQuery) answer() monitor.Answer { return q.a }

func (q *accountzQuery) step(e *Engine, _ int) progress {
	q.a = &monitor.Accountz{
		Options: q.o, ServerID: e.info.ServerID, Now: monitor.Stamp(int64(e.wall)), SystemAccount: e.system.name,
	}
	if q.o.Account == "" {
		for _, a := range e.accounts {
			if !a.absent || a.conns > 0 {
				q.a.Accounts = append(q.a.Accounts, a.name)
			}
		}
		return queryDone
	}
	if a := e.byAccount[q.o.Account]; a != nil {
		q.a.Account = e.accountDetail(a)
	}
	return queryDone
}

func (e *Engine) accountDetail(a *account) *monitor.Account {
	updated := a.updated
	if updated == 0 {
		updated = e.start
	}
	d := &monitor.Account{
		Name: a.name, Updated: monitor.Stamp(int64(updated)), System: a == e.system, Complete: true,
		Clients: a.conns, Subs: a.subs.Count() - a.leaving, NameTag: a.title(),
	}
	d.Stats.Add(a.subs.Stats())
	for _, x := range a.def.exports {
		d.Exports = append(d.Exports, exportInfo(x))
	}
	for _, im := range a.def.streams {
		d.Imports = append(d.Imports, monitor.Import{Subject: im.subject, Account: im.from.name, Local: im.local, Type: "stream"})
	}
	for _, im := range a.def.services {
		d.Imports = append(d.Imports, monitor.Import{
			Subject: im.subject, Account: im.export.account.name, To: im.local, Local: im.local, Type: "service", Share: im.share,
			Latency: latencyInfo(im.export.Latency),
		})
	}
	for i := range e.opts.Accounts {
		if c := &e.opts.Accounts[i]; c.Name == a.name {
			d.Mappings = mappingInfo(c.Mappings)
		}
	}
	d.Responses = e.responseInfo(a)
	if ch := e.charterOf(a); ch != nil {
		e.addCharter(d, ch)
	}
	return d
}

func exportInfo(x *export) monitor.Export {
	info := monitor.Export{Subject: x.Subject, Type: "stream", Approved: x.Accounts}
	if x.Kind == config.Service {
		info.Type, info.ResponseType, info.Latency = "service", responseTypes[x.ResponseType], latencyInfo(x.Latency)
	}
	return info
}

var responseTypes = [...]string{config.Singleton: "Singleton", config.Streamed: "Streamed", config.Chunked: "Chunked"}

func latencyInfo(l *config.Latency) *monitor.Latency {
	if l == nil {
		return nil
	}
	return &monitor.Latency{Sampling: monitor.Sampling(l.Sampling), Results: l.Subject}
}

func mappingInfo(list []config.Mapping) map[string][]monitor.MapDest {
	if len(list) == 0 {
		return nil
	}
	all := make(map[string][]monitor.MapDest, len(list))
	for _, m := range list {
		for _, d := range m.Destinations {
			all[m.Subject] = append(all[m.Subject], monitor.MapDest{Subject: d.Subject, Weight: d.Weight, Cluster: d.Cluster})
		}
	}
	return all
}

// responsesShown bounds the answers still to come that are shown of an account.
const responsesShown = 1000

// responseInfo shows where answers still to come go, those of each export that run out first.
func (e *Engine) responseInfo(a *account) map[string]monitor.Import {
	var all map[string]monitor.Import
	for _, x := range a.def.exports {
		for r := x.waiting.head; r != nil && len(all) < responsesShown; r = r.next {
			if r.at != a {
				continue
			}
			if all == nil {
				all = make(map[string]monitor.Import)
			}
			all[r.subject] = monitor.Import{Subject: r.reply, Account: r.to.name, To: r.subject, Local: r.subject, Type: 2, Share: r.share}
		}
	}
	return all
}

// accountStatzQuery counts the traffic of accounts.
type accountStatzQuery struct {
	o   monitor.AccountStatzOptions
	a   *monitor.AccountStatz
	nth int // account, or name asked for
}

func (q *accountStatzQuery) answer() monitor.Answer { return q.a }

func (q *accountStatzQuery) step(e *Engine, budget int) progress {
	if q.a == nil {
		q.a = &monitor.AccountStatz{Accounts: []monitor.AccountStat{}}
	}
	q.a.ServerID, q.a.Now = e.info.ServerID, monitor.Stamp(int64(e.wall))
	n := len(q.o.Accounts)
	if n == 0 {
		n = len(e.accounts)
	}
	for ; q.nth < n; q.nth++ {
		if budget <= 0 {
			return queryGoesOn
		}
		budget -= accountWork
		var a *account
		if len(q.o.Accounts) > 0 {
			a = e.byAccount[q.o.Accounts[q.nth]]
		} else {
			a = e.accounts[q.nth]
		}
		if a != nil && (q.o.Unused || a.conns > 0) {
			q.a.Accounts = append(q.a.Accounts, e.accountStat(a))
		}
	}
	return queryDone
}

// accountStat is the traffic of one account.
func (e *Engine) accountStat(a *account) monitor.AccountStat {
	return monitor.AccountStat{
		Account: a.name, Name: a.title(), Conns: a.conns, TotalConns: a.conns, NumSubs: a.subscriptions(),
		Sent:     monitor.Traffic{Msgs: a.traffic.outMsgs, Bytes: a.traffic.outBytes},
		Received: monitor.Traffic{Msgs: a.traffic.inMsgs, Bytes: a.traffic.inBytes}, SlowConsumers: a.slowConsumers,
	}
}
