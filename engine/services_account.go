package engine

import (
	"encoding/json"

	"github.com/natsd/natsd/monitor"
)

// accountServices are those about one account.
func accountServices() []namedService {
	return []namedService{
		{"CONNZ", (*Engine).serveAccountConnz}, {"SUBSZ", (*Engine).serveAccountSubsz}, {"LEAFZ", (*Engine).serveAccountLeafz},
		{"JSZ", (*Engine).serveAccountJsz}, {"INFO", (*Engine).serveAccountInfo}, {"STATZ", (*Engine).serveAccountStatz},
		{"CONNS", (*Engine).serveAccountConns},
	}
}

func (e *Engine) serveAccountConnz(k *call) {
	var o monitor.ConnzOptions
	if e.meant(k, &o) {
		o.Account = accountOf(k)
		e.investigate(k, o, whole)
	}
}

func (e *Engine) serveAccountSubsz(k *call) {
	var o monitor.SubszOptions
	if e.meant(k, &o) {
		o.Account, o.Subscriptions = accountOf(k), true
		e.investigate(k, o, whole)
	}
}

func (e *Engine) serveAccountLeafz(k *call) {
	var o monitor.LeafzOptions
	if e.meant(k, &o) {
		o.Account = accountOf(k)
		e.investigate(k, o, whole)
	}
}

func (e *Engine) serveAccountJsz(k *call) {
	var o monitor.JszOptions
	if e.meant(k, &o) {
		e.reply(k, &envelope{Data: json.RawMessage("null"), Error: &serviceError{500, "jetstream not enabled"}})
	}
}

// serveAccountInfo answers with all about an account.
func (e *Engine) serveAccountInfo(k *call) {
	if e.meant(k, nil) {
		e.investigate(k, monitor.AccountzOptions{Account: accountOf(k)}, func(body any) any {
			if a, ok := body.(*monitor.Accountz); ok {
				return a.Account
			}
			return body
		})
	}
}

// serveAccountStatz answers with the traffic of an account, or of several; not at all if nobody is connected to them, unless who asks
// wants to know of such too.
func (e *Engine) serveAccountStatz(k *call) {
	var o monitor.AccountStatzOptions
	if !e.meant(k, &o) {
		return
	}
	name := accountOf(k)
	if name != everyAccount {
		o.Accounts = []string{name}
	}
	empty := name == everyAccount && o.Unused
	e.investigate(k, o, func(body any) any {
		if a, ok := body.(*monitor.AccountStatz); ok && len(a.Accounts) == 0 && !empty {
			return nil
		}
		return body
	})
}

// serveAccountConns answers with the same as the event about an account's connections.
func (e *Engine) serveAccountConns(k *call) {
	a := e.byAccount[accountOf(k)]
	if a == nil || a.conns == 0 {
		return
	}
	e.work += serviceWork
	ev := &connsEvent{eventHead: e.eventHead(typeConns), AccountStat: e.accountStat(a)}
	ev.Server = e.identity()
	e.respond(k, nil, mustJSON(ev))
}
