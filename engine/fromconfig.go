package engine

import (
	"strings"

	"github.com/natsd/natsd/config"
)

// FromConfig takes over what a configuration file says, but for what is the host's affair. What it says nothing about is left
// to the defaults. The slices are shared with c.
func (o *Options) FromConfig(c *config.Config) {
	o.ServerName, o.Host, o.Port, o.ClientAdvertise = c.ServerName, c.Host, c.Port, c.ClientAdvertise
	o.MaxConnections, o.MaxSubscriptions, o.MaxSubTokens = c.MaxConnections, c.MaxSubscriptions, c.MaxSubTokens
	o.MaxClosed = c.MaxClosedClients
	o.MaxPayload, o.MaxControlLine, o.MaxPending = c.MaxPayload, c.MaxControlLine, c.MaxPending
	o.WriteDeadline, o.PingInterval, o.PingMax = c.WriteDeadline, c.PingInterval, c.PingMax
	o.LameDuckDuration, o.LameDuckGrace, o.NoHeaders = c.LameDuckDuration, c.LameDuckGrace, c.NoHeaders
	o.Debug, o.Trace = c.Log.Debug, c.Log.Trace
	o.TraceVerbose, o.TraceHeaders, o.MaxTraced = c.Log.TraceVerbose, c.Log.TraceHeaders, c.Log.MaxTracedLen
	if c.NoSublistCache {
		o.MatchCache = -1
	}
	if c.NoFastProducerStall {
		o.StallBytes = -1
	}
	if a := c.Authorization; a != nil {
		o.User, o.Pass, o.Token, o.AuthTimeout = a.User, a.Password, a.Token, a.Timeout
		o.Users, o.DefaultPermissions = a.Users, a.DefaultPermissions
		o.Callout, o.ProxyRequired = a.Callout, a.ProxyRequired
	}
	o.NoAuthUser, o.Proxies = c.NoAuthUser, c.Proxies
	if x := &c.Operators; len(x.Operators) > 0 || len(x.TrustedKeys) > 0 {
		o.Operators = x
	}
	o.Accounts, o.SystemAccount = c.Accounts, c.Operators.SystemAccount
	o.Tags, o.Metadata = nil, nil
	for _, t := range c.Tags {
		o.Tags = append(o.Tags, strings.ToLower(t))
	}
	for _, p := range c.Metadata {
		if o.Metadata == nil {
			o.Metadata = make(map[string]string)
		}
		o.Metadata[p.Name] = p.Value
	}
	if len(c.Mappings) > 0 { // those at the top level are of the global account
		o.Accounts = append(o.Accounts, config.Account{Pos: c.Mappings[0].Pos, Name: globalAccount, Mappings: c.Mappings})
	}
}
