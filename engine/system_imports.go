package engine

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/subject"
)

// The system account exports a few services by itself. Every account imports some of them by itself too: by these its users learn
// about it and about themselves. The account's name is a part of what is asked in the system account, so nobody can ask for
// another's. In operator mode, an account's JWT may import any of them under whatever name it likes.

// systemExports are what the system account exports; * is the name of the account that asks.
var systemExports = [...]struct {
	subject  string
	kind     config.ResponseType
	position int // of the token that must be the importing account's name; 0: there is none
}{
	{"$SYS.REQ.ACCOUNT.*.CONNZ", config.Streamed, accountToken + 1},
	{"$SYS.REQ.ACCOUNT.*.STATZ", config.Streamed, accountToken + 1},
	{"$SYS.DEBUG.SUBSCRIBERS", config.Singleton, 0},
	{"$SYS.REQ.USER.*.INFO", config.Singleton, 0}, // tells of nobody but who asks, whichever account is named
}

// systemServices are what accounts import by themselves.
var systemServices = [...]struct {
	export int    // in systemExports
	local  string // in the account
	share  bool
}{
	{export: 0, local: "$SYS.REQ.ACCOUNT.PING.CONNZ"},
	{export: 0, local: "$SYS.REQ.SERVER.PING.CONNZ"},
	{export: 1, local: "$SYS.REQ.ACCOUNT.PING.STATZ"},
	{export: 3, local: "$SYS.REQ.USER.INFO", share: true},
}

// systemExport is one of systemExports, ready for use.
func systemExport(i int) config.Export {
	x := &systemExports[i]
	return config.Export{
		Kind: config.Service, Subject: x.subject, Public: true, TokenPosition: x.position, ResponseType: x.kind, ResponseThreshold: defaultThreshold,
	}
}

// exportToJWTs adds to what the system account exports by its JWT what it does by itself. Where its JWT says something of such a
// service, be it by a wider export, that counts: accounts may have to show that they were let.
func exportToJWTs(exports []config.Export) []config.Export {
	said := len(exports)
	for i := range systemExports {
		x := systemExport(i)
		if !slices.ContainsFunc(exports[:said], func(y config.Export) bool {
			return y.Kind == config.Service && subject.ValidPattern(y.Subject) && subject.IsSubset(x.Subject, y.Subject)
		}) {
			exports = append(exports, x)
		}
	}
	return exports
}

// exportSystem adds to the rules of the system account what the others import by themselves, as far as it is not there; the exports are
// in the order of systemExports.
func (r *accountRules) exportSystem(e *Engine) (exports []*export) {
	for i := range systemExports {
		want := systemExport(i)
		at := slices.IndexFunc(r.exports, func(x *export) bool {
			return x.Kind == want.Kind && x.Subject == want.Subject && x.Public == want.Public && x.TokenPosition == want.TokenPosition && x.ResponseType == want.ResponseType
		})
		if at < 0 {
			at = len(r.exports)
			r.exports = append(r.exports, e.newExport(e.system, &want))
		}
		exports = append(exports, r.exports[at])
	}
	r.asked = exports
	return exports
}

// importSystem adds them to the rules of another account, but for those in whose place it has something else. bridges are
// systemBridges of its name; nil: they are made.
func (r *accountRules) importSystem(a *account, exports []*export, bridges []systemBridge) {
	if bridges == nil {
		bridges = systemBridges(a.name)
	}
	r.services = slices.Grow(r.services, len(bridges))
	for i, b := range bridges {
		if s := systemServices[i]; !r.serves(s.local) {
			r.services = append(r.services, &serviceImport{account: a, local: s.local, export: exports[s.export], subject: b.subject, bridge: b.way, share: s.share})
		}
	}
}

// systemBridge is what an account asks as a subject of the system account, and the way there.
type systemBridge struct {
	subject string
	way     *mapping.Transform
}

// systemBridges are those of all that an account asks, in the order of systemServices.
// An account whose name can't be a part of a subject has none.
func systemBridges(name string) (bridges []systemBridge) {
	if !subject.ValidLiteral([]byte(name)) || strings.Contains(name, ".") {
		return nil
	}
	for _, s := range systemServices {
		there := strings.Replace(systemExports[s.export].subject, "*", name, 1)
		here, err := mapping.CompileImport(there, s.local)
		if err == nil {
			here, err = here.Reverse()
		}
		if err != nil {
			panic("engine: a literal subject can be mapped to another: " + err.Error())
		}
		bridges = append(bridges, systemBridge{there, here})
	}
	return bridges
}

// serves reports whether the account imports a service under that name already.
func (r *accountRules) serves(local string) bool {
	for _, im := range r.services {
		if im.local == local {
			return true
		}
	}
	return false
}
