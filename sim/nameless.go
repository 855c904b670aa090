package sim

import (
	"slices"

	accounts "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/model"
)

// In some runs with accounts a client may say no user: it is no_auth_user then, with that one's account and permissions, and
// becomes another one, or is turned out, when a reload makes it so. To the oracle it is a user like others, model.Nobody.

// noAuthVersions is how many configurations of accounts a run may have.
const noAuthVersions = 8

// nameless draws whether there is a no_auth_user, and who it is in each configuration. The run begins and ends with one.
func (d draw) nameless(c *config) {
	if d.of(cfgNoAuth, 0, 1) != 1 {
		return
	}
	t := c.tenants
	for v, r := range t.versions {
		var names []string
		for i := range r.Accounts {
			for _, u := range r.Accounts[i].Users {
				names = append(names, u.Name)
			}
		}
		key := d.key(cfgNoAuthUser + uint32(v))
		if v == 0 {
			r.NoAuth = names[d.source.Below(key, uint64(len(names)))]
			continue
		}
		n := int(d.source.Below(key, uint64(len(names)+8)))
		switch same := t.versions[0].NoAuth; {
		case n < len(names):
			r.NoAuth = names[n]
		case n < len(names)+5 && slices.Contains(names, same):
			r.NoAuth = same
		} // else there is none
	}
}

// mayBeNobody reports whether any configuration has a no_auth_user.
func (c *config) mayBeNobody() bool { return c.tenants != nil && c.tenants.versions[0].NoAuth != "" }

// alwaysNobody reports whether all of them have.
func (c *config) alwaysNobody() bool {
	return c.tenants != nil && !slices.ContainsFunc(c.tenants.versions, func(r *model.Rules) bool { return r.NoAuth == "" })
}

// allowNobody makes options those of a server with the no_auth_user of a configuration.
func allowNobody(o *engine.Options, r *model.Rules) {
	if r.NoAuth != "" {
		o.NoAuthUser = accounts.Located{Text: r.NoAuth}
	}
}

// silentAtFirst reports whether a client may do without a CONNECT.
func (c *client) silentAtFirst() bool {
	return !c.w.cfg.auth.required() || c.user == model.Nobody && c.w.cfg.alwaysNobody()
}

// drawNobody makes a client, perhaps, one that says no user.
func (w *world) drawNobody(c *client, t *traits) {
	if !w.cfg.mayBeNobody() || c.kind == kindGambler || c.trait(traitNobody, 4) != 3 {
		return
	}
	t.nobody = true
	t.user = slices.Index(w.cfg.tenants.users, w.cfg.tenants.versions[0].NoAuth)
}

// demands reports whether an INFO that the client reads may say so of auth_required.
func (c *client) demands(said bool) bool {
	cfg, n := &c.w.cfg, c.node
	switch {
	case (cfg.listens || cfg.mayBeNobody()) && c.greeted:
		return true // there are users, though none must be named: the answer to CONNECT says so, others don't
	case !cfg.mayBeNobody():
		return said == cfg.auth.required()
	case c.life != n.life || c.since <= n.demandAt:
		return true // before or after a reload
	}
	return said == (cfg.tenants.versions[n.version].NoAuth == "")
}
