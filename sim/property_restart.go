package sim

import (
	"math/rand/v2"
	"strings"

	"github.com/natsd/natsd/engine"
)

// A reload is a restart that nobody notices: whatever a server was configured to before, and however often that changed, what
// is in force after a reload is what a server that is started with that configuration has in force. So a server that dies
// later comes back as the same.

// propRestart is the name of the property.
const propRestart = "restart"

// checkRestart holds the engine, after a reload, against another one that is started with the same options.
func (n *node) checkRestart() {
	if n.w.failure != nil || n.w.cfg.auth == authJWT { // there accounts are what was read since the start
		return
	}
	env := engine.Env{Clock: n, Network: n, Jobs: n, Rand: rand.New(rand.NewPCG(n.life, 0)), Log: unheard{}, Monitor: n}
	is, would := n.eng.InForce(), engine.New(n.nextOptions, env).InForce()
	if is == would {
		return
	}
	was := strings.Split(is, "\n")
	for i, line := range strings.Split(would, "\n") {
		if i >= len(was) || was[i] != line {
			n.w.fail(propRestart, "after a reload there is "+strings.Join(was[min(i, len(was)):min(i+1, len(was))], "")+
				" where a server that is started with that configuration has "+line)
			return
		}
	}
	n.w.fail(propRestart, "after a reload there is more in force than in a server that is started with that configuration")
}

// unheard is the log of a server that nobody runs.
type unheard struct{}

// Log implements engine.Log.
func (unheard) Log(engine.Level, string, string) {}
