package engine

import (
	"slices"
	"strings"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/subject"
)

// Every account imports a few services of the system account, by which its users learn about it and about themselves. The
// account's name is a part of what is asked in the system account, so nobody can ask for another's.

// systemServices are what accounts import; * is the account's name.
var systemServices = []struct {
	export string // in the system account
	local  string // in the others
	kind   config.ResponseType
	share  bool
}{
	{export: "$SYS.REQ.ACCOUNT.*.CONNZ", local: "$SYS.REQ.ACCOUNT.PING.CONNZ", kind: config.Streamed},
	{export: "$SYS.REQ.ACCOUNT.*.CONNZ", local: "$SYS.REQ.SERVER.PING.CONNZ", kind: config.Streamed},
	{export: "$SYS.REQ.ACCOUNT.*.STATZ", local: "$SYS.REQ.ACCOUNT.PING.STATZ", kind: config.Streamed},
	{export: "$SYS.REQ.USER.*.INFO", local: "$SYS.REQ.USER.INFO", kind: config.Singleton, share: true},
}

// exportSystem adds to the rules of the system account what the others import; the exports are in the order of
// systemServices.
func (r *accountRules) exportSystem(e *Engine) (exports []*export) {
	for i, s := range systemServices {
		if i > 0 && systemServices[i-1].export == s.export {
			exports = append(exports, exports[i-1])
			continue
		}
		x := e.newExport(e.system, &config.Export{
			Kind: config.Service, Subject: s.export, Public: true, ResponseType: s.kind, ResponseThreshold: defaultThreshold,
		})
		r.exports = append(r.exports, x)
		exports = append(exports, x)
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
			r.services = append(r.services, &serviceImport{account: a, local: s.local, export: exports[i], subject: b.subject, bridge: b.way, share: s.share})
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
		there := strings.Replace(s.export, "*", name, 1)
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
