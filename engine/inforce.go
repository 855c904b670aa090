package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/natsd/natsd/mapping"
)

// InForce says, line by line, what of the configuration is in force and what it has become: options, accounts with what they
// share, users with what they may do. It does not depend on who is connected, nor on what was configured before, so that an
// engine after a reload says the same as one that was started with those options; but for accounts that JWTs describe, which are
// those that were read so far. Passwords are among it: it is for
// simulations and tests.
func (e *Engine) InForce() string {
	var b strings.Builder
	o := &e.opts
	for _, n := range [...]int{o.Port, o.MaxConnections, o.MaxSubscriptions, o.MaxClosed, o.MaxSubTokens, o.MaxPayload, o.MaxControlLine, o.MaxPending,
		o.PingMax, o.Checks, o.TurnWork, o.MatchCache, o.StallBytes, o.MaxTraced} {
		fmt.Fprintf(&b, "%d ", n)
	}
	for _, d := range [...]time.Duration{o.WriteDeadline, o.PingInterval, o.AuthTimeout, o.LameDuckDuration, o.LameDuckGrace, o.StallMax} {
		fmt.Fprintf(&b, "%v ", d)
	}
	for _, on := range [...]bool{o.NoHeaders, o.ProxyProtocol, o.ProxyRequired, o.Trace, o.TraceVerbose, o.TraceHeaders, o.Debug} {
		fmt.Fprintf(&b, "%t ", on)
	}
	fmt.Fprintf(&b, "%q %q %q %q %q\n", o.ServerName, o.Host, o.ClientAdvertise, o.SystemAccount.Text, o.Tags)
	fmt.Fprintf(&b, "operators %t callout %t\n", e.trust != nil, e.opts.Callout != nil)
	i := &e.info
	fmt.Fprintf(&b, "told %d headers %t auth %t tls %t %t", i.MaxPayload, i.Headers, i.AuthRequired, i.TLSRequired, i.TLSVerify)
	if o.ClientAdvertise != "" { // else it is where the server listens, once it does
		fmt.Fprintf(&b, " %s:%d", i.Host, i.Port)
	}
	b.WriteByte('\n')
	accounts := slices.Clone(e.accounts)
	slices.SortFunc(accounts, func(x, y *account) int { return strings.Compare(x.name, y.name) })
	for _, a := range accounts {
		if !a.absent || len(a.def.exports)+len(a.def.streams)+len(a.def.services) > 0 || a.def.mappings != nil {
			e.writeAccount(&b, a)
		}
	}
	e.writeUsers(&b)
	return b.String()
}

func (e *Engine) writeAccount(b *strings.Builder, a *account) {
	d := a.def
	fmt.Fprintf(b, "account %s system %t limits %v %v %v %v\n", a.name, a == e.system, d.limits.MaxConnections,
		d.limits.MaxSubscriptions, d.limits.MaxPayload, d.limits.MaxLeafNodes)
	if t := d.trace; t != nil {
		fmt.Fprintf(b, "  traces to %s %d%%\n", t.Dest, t.Sampling)
	}
	for _, x := range d.exports {
		fmt.Fprintf(b, "  export %s mine %t\n", exportWords(x), x.account == a)
	}
	for _, im := range d.streams {
		fmt.Fprintf(b, "  stream %s of %s as %s (%s) traced %t bridge %t %t\n", im.subject, im.from.name, im.local, im.to, im.trace, im.bridge != nil, im.back != nil)
	}
	for _, im := range d.services {
		fmt.Fprintf(b, "  service %s of %s as %s (%s) alive %t shared %t bridge %t found %q\n", im.subject, im.export.account.name, im.local, exportWords(im.export),
			slices.Contains(im.export.account.def.exports, im.export), im.share, im.bridge != nil, im.sub.handle.Subject())
	}
	if d.mappings != nil {
		for i := range d.mappings.Len() {
			writeMapping(b, d.mappings.At(i))
		}
	}
}

// exportWords describe an export.
func exportWords(x *export) string {
	s := fmt.Sprintf("%d %s public %t for %v answers %d in %v token %d traced %t", x.Kind, x.Subject, x.Public, x.Accounts, x.ResponseType,
		x.ResponseThreshold, x.TokenPosition, x.AllowTrace)
	if l := x.Latency; l != nil {
		s += fmt.Sprintf(" measured %d%% on %s", l.Sampling, l.Subject)
	}
	return s
}

// writeMapping tells a mapping by what it does to a subject that it maps.
func writeMapping(b *strings.Builder, w *mapping.Weighted) {
	fmt.Fprintf(b, "  mapping %s", w.Source())
	subj := []byte(strings.NewReplacer("*", "x", ">", "y").Replace(w.Source()))
	last := ""
	for draw := range uint64(100) {
		to, outcome := w.Apply(nil, subj, draw)
		if now := fmt.Sprintf(" %d %s", outcome, to); now != last {
			fmt.Fprintf(b, " from %d%%%s", draw, now)
			last = now
		}
	}
	b.WriteByte('\n')
}

func (e *Engine) writeUsers(b *strings.Builder) {
	d := e.users
	var lines []string
	for _, users := range [...]map[string]*user{d.byName, d.byNkey} {
		for _, u := range users { //natsd:orderfree the lines are sorted
			lines = append(lines, "user "+e.userWords(u))
		}
	}
	if d.token != nil {
		lines = append(lines, "token "+e.userWords(d.token))
	}
	if d.noAuth != nil {
		lines = append(lines, "without credentials "+e.userWords(d.noAuth))
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "credentials required %t elsewhere %t decoy %q names %d\n", d.required(), d.elsewhere, d.decoy, len(d.byDN))
}

func (e *Engine) userWords(u *user) string {
	s := fmt.Sprintf("%q of %s known %t password %q types %v proxy %t nkey %t", u.name, u.account.name, e.byAccount[u.account.name] == u.account,
		u.password, u.types, u.proxyRequired, u.nkey)
	if u.perms == nil {
		return s
	}
	p := u.perms.Spec()
	s += fmt.Sprintf(" publish %v subscribe %v", p.Publish, p.Subscribe)
	if l := p.Responses; l != nil {
		s += fmt.Sprintf(" responses %+v", *l)
	}
	return s
}
