package engine

import (
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

// importSystem adds them to the rules of another account, but for those in whose place it has something else. An account
// whose name can't be a part of a subject has none of them.
func (r *accountRules) importSystem(a *account, exports []*export) {
	if !subject.ValidLiteral([]byte(a.name)) || strings.Contains(a.name, ".") {
		return
	}
	for i, s := range systemServices {
		if r.serves(s.local) {
			continue
		}
		there := strings.Replace(s.export, "*", a.name, 1)
		here, err := mapping.CompileImport(there, s.local)
		if err == nil {
			here, err = here.Reverse()
		}
		if err != nil {
			panic("engine: a literal subject can be mapped to another: " + err.Error())
		}
		r.services = append(r.services, &serviceImport{account: a, local: s.local, export: exports[i], subject: there, bridge: here, share: s.share})
	}
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
