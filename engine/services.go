package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/natsd/natsd/monitor"
	"github.com/natsd/natsd/wire"
)

// The services of the system account: the server answers what its operators, and their tools, ask about it. The subjects,
// fields and texts are nats-server's.

const (
	// servicesMax is how many answers are being made at a time: each may hold a copy of all connections or subscriptions.
	servicesMax = 8
	// serviceWork is what an answer made at once counts as in a turn.
	serviceWork = 64
)

// serviceFunc answers a call that may be meant for this server.
type serviceFunc func(e *Engine, k *call)

// namedService is a service and the last part of its subject.
type namedService struct {
	name   string
	answer serviceFunc
}

// offerServices subscribes the server to all of them.
func (e *Engine) offerServices() {
	id := e.info.ServerID
	server := func(name string, s serviceFunc) {
		e.offer("$SYS.REQ.SERVER.PING."+name, s)
		e.offer("$SYS.REQ.SERVER."+id+"."+name, s)
	}
	e.offer("$SYS.REQ.SERVER.PING", (*Engine).serveStatsz)
	server("STATSZ", (*Engine).serveStatsz)
	server("IDZ", (*Engine).serveIdentity)
	for _, name := range [...]string{
		"VARZ", "SUBSZ", "CONNZ", "ROUTEZ", "GATEWAYZ", "LEAFZ", "ACCOUNTZ", "JSZ", "HEALTHZ", "RAFTZ", "IPQUEUESZ",
	} {
		server(name, func(e *Engine, k *call) { e.serveServer(name, k) })
	}
	server("PROFILEZ", (*Engine).serveProfile)
	server("EXPVARZ", (*Engine).serveVariables)
	for _, s := range accountServices() {
		e.offer("$SYS.REQ.ACCOUNT.*."+s.name, s.answer)
	}
	for _, s := range operatorServices() {
		e.offer("$SYS.REQ.SERVER."+id+"."+s.name, s.answer)
	}
	e.offerUpdates()
	e.offer("$SYS.DEBUG.SUBSCRIBERS", (*Engine).serveSubscribers)
	e.offer("$SYS.REQ.ACCOUNT.NSUBS", (*Engine).serveCount)
	e.offer("$SYS.REQ.USER.*.INFO", (*Engine).serveUser)
	e.offer("$SYS.REQ.USER.INFO", (*Engine).serveUser)
}

func (e *Engine) offer(subj string, s serviceFunc) {
	e.handle(e.system, subj, func(k *call) { s(e, k) })
}

// filter says which servers are meant. What is empty or absent means all.
type filter struct {
	Name    string   `json:"server_name"` // a part of it
	Cluster string   `json:"cluster"`     // a part of it
	Host    string   `json:"host"`        // a part of it
	Exact   bool     `json:"exact_match"` // not a part but all of these
	Tags    []string `json:"tags"`        // all of them
	Domain  string   `json:"domain"`
}

// matches reports whether this server is meant.
func (f *filter) matches(e *Engine) bool {
	fits := func(want, have string) bool {
		if f.Exact {
			return want == "" || want == have
		}
		return strings.Contains(have, want)
	}
	for _, t := range f.Tags {
		if !slices.ContainsFunc(e.opts.Tags, func(have string) bool { return strings.EqualFold(have, t) }) {
			return false
		}
	}
	return fits(f.Name, e.info.ServerName) && fits(f.Cluster, "") && fits(f.Host, e.opts.Host) && f.Domain == ""
}

// meant reads the filter of a call, and o, which may be nil, and reports whether the call is to be answered. A body that
// can't be read has been answered.
func (e *Engine) meant(k *call, o any) bool {
	if len(k.body) == 0 {
		return true
	}
	var f filter
	err := json.Unmarshal(k.body, &f)
	if err == nil && o != nil {
		err = json.Unmarshal(k.body, o)
	}
	if err != nil {
		e.misunderstood(k, err)
		return false
	}
	return f.matches(e)
}

// serviceError is why there is no answer.
type serviceError struct {
	Code int    `json:"code"`
	Text string `json:"description"`
}

// envelope is an answer, and who gives it.
type envelope struct {
	Server json.RawMessage `json:"server"`
	Data   json.RawMessage `json:"data,omitempty"`
	Error  *serviceError   `json:"error,omitempty"`
}

// misunderstood answers what can't be read.
func (e *Engine) misunderstood(k *call, err error) {
	e.reply(k, &envelope{Error: &serviceError{400, err.Error()}})
}

// fail answers why there is no answer.
func (e *Engine) fail(k *call, text string) {
	e.reply(k, &envelope{Error: &serviceError{500, text}})
}

// tell answers with a value that always has a JSON, and not a long one.
func (e *Engine) tell(k *call, v any) { e.reply(k, &envelope{Data: mustJSON(v)}) }

func (e *Engine) reply(k *call, v *envelope) {
	e.work += serviceWork
	v.Server = e.identity()
	e.respond(k, nil, mustJSON(v))
}

// serveStatsz answers with the server's state at a glance.
func (e *Engine) serveStatsz(k *call) {
	if e.meant(k, nil) {
		e.work += serviceWork
		e.respond(k, nil, e.statszText())
	}
}

// serveIdentity answers with the server's name, host and id, whatever is in the request.
func (e *Engine) serveIdentity(k *call) {
	e.respond(k, nil, mustJSON(&struct {
		Name string `json:"name"`
		Host string `json:"host"`
		ID   string `json:"id"`
	}{e.info.ServerName, e.opts.Host, e.info.ServerID}))
}

// serveServer answers a question about the whole server.
func (e *Engine) serveServer(name string, k *call) {
	q, err := monitor.FromJSON(name, k.body)
	if err != nil {
		e.misunderstood(k, err)
		return
	}
	if o, ok := q.(monitor.JszOptions); ok && o.LeaderOnly {
		return // who leads the servers that store something answers, and nobody else
	}
	if e.meant(k, nil) {
		e.investigate(k, q, whole)
	}
}

// accountOf is the account that a call of an account's service is about.
func accountOf(k *call) string { return strings.Split(k.subject, ".")[3] }

// everyAccount is what stands in place of an account's name.
const everyAccount = "PING"

// headerValue finds the value of a key in a header block; "" if there is none.
func headerValue(block []byte, key string) string {
	for line := range strings.SplitSeq(strings.TrimPrefix(string(block), wire.HeaderLine+"\r\n"), "\r\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(k, key) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
