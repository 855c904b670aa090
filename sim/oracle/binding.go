package oracle

import (
	"math/bits"
	"slices"

	"github.com/natsd/natsd/sim/model"
)

// Clock tells the oracle what it needs to know of time: nothing but answers to requests depends on it.
type Clock interface {
	// Time is the simulated time, ns.
	Time() int64
	// Steady reports whether nothing has kept the server from seeing time pass since then.
	Steady(since int64) bool
}

// SetClock gives the oracle a clock. Without one no answer is ever too late, and none must come in time.
func (o *Oracle) SetClock(c Clock) { o.clock = c }

func (o *Oracle) time() int64 {
	if o.clock == nil {
		return 0
	}
	return o.clock.Time()
}

// binding is a reply subject that the server made, as receivers of a request saw it: what is published there goes back to
// who asked. It is found out when the first of them reads the request.
type binding struct {
	request uint64 // its number
	asker   *Conn
	entry   int
	once    bool   // the service that answers does so once
	waits   int64  // how long it may take
	single  bool   // some service on the way answers once
	gate    int    // the entry through which its way leaves who asked
	vague   bool   // which of several choices the request took is not known: entries may have other numbers
	least   int64  // how long any service waits
	at      string // account
	subject string
	links   []link // back to who asked: one account after another
	era     int
	life    []bool // from that era on: whether the answer may still cross
	asked   int64  // when the request was written
	learnt  int64

	first, winner answer // zero: none
	shaken        bool   // a reload may have had the first one refused
	doubtful      bool   // one may have been given, or refused
	tried         bool   // somebody has answered
}

// link is an account that an answer comes to, and the subject that it has there.
type link struct {
	account, subject string
	from             string // the account that it comes from
	export           string // by which the request went there
}

// answer names a publish.
type answer struct {
	by *Conn
	n  uint64
}

// defaultThreshold is how long an answer is waited for where the export does not say.
const defaultThreshold = int64(120_000_000_000)

// through is told of a service on the way: each lets pass what it would let pass alone.
func (b *binding) through(x *model.Export) {
	wait := defaultThreshold
	if x.Threshold > 0 {
		wait = int64(x.Threshold)
	}
	if b.least == 0 || wait < b.least {
		b.least = wait
	}
	if len(b.links) == 1 {
		b.once, b.waits = x.Response == model.Singleton, wait
	}
	b.single = b.single || x.Response == model.Singleton
}

// crossed follows a delivery that was lawful.
func (o *Oracle) crossed(c, by *Conn, r *record, m *Message, f fit) {
	if f.hidden && r.reply != "" {
		o.bind(by, r, m, f)
	}
	b := r.answers
	if b == nil || f.vague || !b.once || r.link == 0 || f.entry < r.link {
		return
	}
	a := answer{by, r.n}
	if b.winner == (answer{}) {
		b.winner = a
	} else if b.winner != a {
		o.fail(Answers, "%v got message %d of %v as an answer to its request %d, which message %d of %v had answered", c.id, r.n, by.id, b.request,
			b.winner.n, b.winner.by.id)
	}
}

// bind notes the reply subject that a request has in the account of one of its entries.
func (o *Oracle) bind(by *Conn, r *record, m *Message, f fit) {
	if r.spans || r.answers != nil || f.blurred || f.vague && len(r.choices) == 1 || bits.OnesCount64(f.could) > 1 {
		o.blur(answer{by, r.n})
		return // more than one thing may have been done with it: anything may come of an answer
	}
	entries, entry := r.choices[f.choice].Entries, f.entry
	x := &entries[entry]
	key := x.Account + " " + string(m.Reply)
	if old := o.bindings[key]; old != nil {
		if old.asker != by || old.request != r.n || old.entry != entry && !f.vague {
			o.fail(Answers, "requests %d of %v and %d of %v have the same reply subject %q", r.n, by.id, old.request, old.asker.id, m.Reply)
		}
		return
	}
	b := &binding{
		request: r.n, asker: by, entry: entry, at: x.Account, subject: string(m.Reply), era: r.era, life: []bool{true},
		asked: r.at, learnt: o.time(), vague: f.vague,
	}
	for e := x; e.By != nil; {
		parent := &entries[e.Parent]
		l := link{account: parent.Account, subject: r.reply, from: e.Account, export: e.By.Subject}
		if parent.By != nil {
			l.subject = hiddenReply + unknown + sep + unknown
		}
		b.links = append(b.links, l)
		b.through(e.By)
		e = parent
	}
	for b.gate = entry; entries[b.gate].Parent > 0; {
		b.gate = entries[b.gate].Parent
	}
	for v := b.era + 1; v < len(o.eras); v++ {
		b.renewed(o.eras[v])
	}
	o.bindings[key] = b
	o.asked[answer{by, r.n}] = append(o.asked[answer{by, r.n}], b)
	o.bound = append(o.bound, b)
}

// blur notes that a request may be answered under a subject of which it is not known where that leads: perhaps to whom another
// answer leads too, so that only one of them comes.
func (o *Oracle) blur(request answer) {
	all := o.asked[request]
	for _, b := range all {
		if len(b.links) == 0 {
			return // it was noted before
		}
		if b.first == (answer{}) {
			continue
		}
		if f := b.first.by.records.find(b.first.n); f != nil && f.proven == 0 {
			f.spans = true
		}
	}
	o.asked[request] = append(all, &binding{tried: true})
}

// unbind forgets all reply subjects: the server that made them is gone.
func (o *Oracle) unbind() {
	clear(o.bindings)
	clear(o.asked)
	o.bound = o.bound[:0]
}

// renewed follows a reload: what was asked by an import that is no more is not answered.
func (b *binding) renewed(e *era) {
	if b.first != (answer{}) {
		f := b.first.by.records.find(b.first.n)
		b.shaken = b.shaken || f != nil && f.proven == 0
	}
	ok := b.life[len(b.life)-1]
	for _, l := range b.links {
		ok = ok && imports(e.rules, l.account, l.from, l.export)
	}
	b.life = append(b.life, ok)
}

// imports reports whether an account imports, from another one, something of the service that this exports on a subject.
func imports(rules *model.Rules, account, from, subject string) bool {
	a := rules.Account(account)
	if a == nil {
		return false
	}
	for i := range a.Imports {
		im := &a.Imports[i]
		if im.Kind != model.Service || im.Account != from {
			continue
		}
		if x := rules.ExportOf(account, im); x != nil && x.Subject == subject {
			return true
		}
	}
	return false
}

// answering finds out whether a publish answers a request, and what is certain then.
func (o *Oracle) answering(c *Conn, r *record) {
	if len(r.subject) < len(hiddenReply) || r.subject[:len(hiddenReply)] != hiddenReply {
		return
	}
	b := o.bindings[o.current().seat(c.opts.User).account+" "+r.subject]
	if b == nil {
		r.spans, r.unknown = true, true
		return
	}
	r.answers = b
	b.expire(o, r)
	o.rivals(b, c, r)
	if b.asker.ended != 0 || b.asker.gone != 0 || r.late || len(b.life) > 1 {
		r.spans = true
	}
	allowed := r.grant == AsReply || o.current().mayPublish(c.opts.User, r.subject)
	if r.grant == NotAnyway || r.grant == ByLists && !allowed {
		return
	}
	if b.doubtful = b.doubtful || !allowed; b.doubtful {
		r.spans = true
	}
	if !b.single {
		return
	}
	if !allowed {
		b.overtaken(c)
		return
	}
	if b.first == (answer{}) {
		b.first = answer{c, r.n}
		return
	}
	r.spans = true
	f := b.first.by.records.find(b.first.n)
	switch {
	case b.shaken: // it may not have been the first
	case f == nil || f.proven != 0: // answered, it is over
		r.late = r.late || b.once && (b.first.by.gone == 0 || b.winner != (answer{}))
	case b.first.by != c:
		f.spans = true // whichever of the two is handled first
	default:
		r.late = b.once // the server handles them in their order
	}
}

// rivals follows that a request may have been answered nearer to who asked, or farther away, or by another service that the same
// one led to: what answers once on the way that both have in common lets only one of them pass.
func (o *Oracle) rivals(b *binding, c *Conn, r *record) {
	b.tried = true
	for _, x := range o.asked[answer{b.asker, b.request}] {
		if x != b && (len(x.links) == 0 || x.gate == b.gate || x.vague || b.vague) && x.tried {
			r.spans = true
			x.overtaken(c)
		}
	}
}

// overtaken is told of an answer of c's that may be given, or not: if the first one is another connection's and not handled for
// certain, this may come before it.
func (b *binding) overtaken(c *Conn) {
	if b.first == (answer{}) || b.first.by == c {
		return
	}
	if f := b.first.by.records.find(b.first.n); f != nil && f.proven == 0 {
		f.spans = true
	}
}

// expire notes whether an answer comes too late.
func (b *binding) expire(o *Oracle, r *record) {
	now := o.time()
	if b.once && o.clock != nil && now-b.learnt > b.waits+b.waits/8 && o.clock.Steady(b.asked) {
		r.late = true
	}
}

// unsure reports that nothing is required of a publish.
func (o *Oracle) unsure(r *record) bool {
	if r.spans {
		return true
	}
	b := r.answers
	return b != nil && (b.asker.ended != 0 || b.asker.gone != 0 || o.time()-b.asked > b.least/2 ||
		o.clock != nil && !o.clock.Steady(b.asked)) // its clock may have jumped
}

// answerWays are the ways of an answer: where it is published, and back to who asked.
func (o *Oracle) answerWays(account string, r *record, v int) []model.Choice {
	b := r.answers
	e := o.eras[v]
	all := append([]model.Choice(nil), e.ways(account, r.subject)...)
	r.link = len(all[0].Entries) // alike for all: no mapping is for such subjects
	if account != b.at || r.late || v < b.era || !b.life[v-b.era] {
		return all
	}
	for _, l := range b.links {
		all = joined(all, e.rules.Answer(l.account, l.subject))
	}
	return all
}

// joined are the choices of a message that takes each of both: which one of one has nothing to do with which one of the other.
func joined(all, more []model.Choice) (both []model.Choice) {
	for _, c := range all {
		shares := model.Shared(c.Weight, more)
		for k, m := range more {
			entries := slices.Clone(c.Entries)
			for i, x := range m.Entries {
				x.Hidden = x.Hidden || i == 0
				x.Parent += len(c.Entries)
				entries = append(entries, x)
			}
			both = append(both, model.Choice{Weight: shares[k], Subject: c.Subject, Entries: entries})
		}
		if lost := shares[len(more)]; lost > 0 {
			both = append(both, model.Choice{Weight: lost, Subject: c.Subject, Entries: c.Entries})
		}
	}
	return both
}
