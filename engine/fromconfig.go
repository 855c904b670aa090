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
	if _, said := c.Where("max_connections"); said && o.MaxConnections <= 0 {
		o.MaxConnections = -1
	}
	o.MaxClosed = c.MaxClosedClients
	o.MaxPayload, o.MaxControlLine, o.MaxPending = c.MaxPayload, c.MaxControlLine, c.MaxPending
	o.WriteDeadline, o.PingInterval, o.PingMax = c.WriteDeadline, c.PingInterval, c.PingMax
	o.LameDuckDuration, o.LameDuckGrace, o.NoHeaders = c.LameDuckDuration, c.LameDuckGrace, c.NoHeaders
	o.ProxyProtocol = c.ProxyProtocol
	o.Debug, o.Trace = c.Log.Debug, c.Log.Trace
	o.TraceVerbose, o.TraceHeaders, o.MaxTraced = c.Log.TraceVerbose, c.Log.TraceHeaders, c.Log.MaxTracedLen
	if c.NoSublistCache {
		o.MatchCache = -1
	}
	if c.NoFastProducerStall {
		o.StallBytes = -1
	}
	if a := c.Authorization; a != nil {
		o.Token, o.AuthTimeout = a.Token, a.Timeout
		if len(a.Users) == 0 { // else the password is there to be named as a variable in the list
			o.User, o.Pass = a.User, a.Password
		}
		o.Users, o.DefaultPermissions = a.Users, a.DefaultPermissions
		o.Callout, o.ProxyRequired = a.Callout, a.ProxyRequired
	}
	o.NoAuthUser, o.Proxies = c.NoAuthUser, c.Proxies
	o.Guests = onlySystem(c)
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

// onlySystem reports whether a configuration says no more about who may connect than who is in the system account. Adding that
// account to a server that was open to everybody must not shut out its clients.
func onlySystem(c *config.Config) bool {
	x := &c.Operators
	return c.Authorization == nil && c.NoAuthUser.Text == "" && len(x.Operators) == 0 && len(x.TrustedKeys) == 0 &&
		len(c.Accounts) == 1 && c.Accounts[0].Name == systemName(x.SystemAccount)
}
