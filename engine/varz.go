package engine

import (
	"time"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/monitor"
)

// traffic is what came from clients and went to them, over all accounts that there are and were.
func (e *Engine) traffic() (t traffic) {
	for _, a := range e.accounts {
		t.add(&a.traffic)
	}
	return t
}

// varz is the server at a glance.
func (e *Engine) varz() *monitor.Varz {
	o, t, all := &e.opts, &e.totals, e.traffic()
	v := &monitor.Varz{
		ID: e.info.ServerID, Name: e.info.ServerName, Version: NatsVersion, Natsd: o.NatsdVersion, Proto: e.info.Proto,
		GitCommit: o.GitCommit, GoVersion: o.GoVersion, Host: e.listening.Host, Port: e.listening.Port,
		AuthRequired: e.users.required(), TLSRequired: e.info.TLSRequired, TLSVerify: e.info.TLSVerify, OCSPPeerVerify: o.TLS.On && o.TLS.OCSPPeer,
		MaxConnections: o.MaxConnections, MaxSubscriptions: o.MaxSubscriptions,
		PingInterval: o.PingInterval, PingMax: o.PingMax, AuthTimeout: monitor.Seconds(int64(o.AuthTimeout)), TLSTimeout: monitor.Seconds(int64(o.TLS.Timeout)),
		MaxControlLine: o.MaxControlLine, MaxPayload: o.MaxPayload, MaxPending: o.MaxPending, WriteDeadline: o.WriteDeadline,
		Start: monitor.Stamp(int64(e.start)), Now: monitor.Stamp(int64(e.wall)), Uptime: monitor.Uptime(time.Duration(e.now - e.startMono)),
		Connections: e.active, TotalConnections: t.connections,
		InMsgs: all.inMsgs, InBytes: all.inBytes, InClientMsgs: all.inMsgs, InClientBytes: all.inBytes,
		OutMsgs: all.outMsgs, OutBytes: all.outBytes, OutClientMsgs: all.outMsgs, OutClientBytes: all.outBytes,
		SlowConsumers: t.slowConsumers, StaleConnections: t.stale, StalledClients: t.stalls,
		Slow: monitor.ByKind{Clients: t.slowConsumers}, Stale: monitor.ByKind{Clients: t.stale},
		Subscriptions: e.subscriptions(), SystemAccount: e.system.name, Tags: o.Tags, Metadata: o.Metadata, LameDuck: e.duck.on,
		LongestTurn: e.turns.longest, MostTurnCPU: e.turns.mostCPU, Turns: e.turns.count(), TurnTime: e.turns.sum,
		HTTPRequests: map[string]uint64{}, Loaded: monitor.Stamp(int64(e.start)),
	}
	if at := o.TLS.CertNotAfter; at != 0 {
		t := monitor.Stamp(int64(at))
		v.CertNotAfter = &t
	}
	if len(o.Proxies) > 0 {
		v.Proxies = &monitor.Proxies{}
		for _, k := range o.Proxies {
			v.Proxies.Trusted = append(v.Proxies.Trusted, monitor.TrustedProxy{Key: k.Text})
		}
	}
	if o.operatorMode() {
		for _, x := range o.Operators.Operators {
			v.OperatorJWTs = append(v.OperatorJWTs, x.Text)
			v.OperatorClaims = append(v.OperatorClaims, claims.Payload(x.Text))
		}
	}
	if e.env.Process != nil {
		p := e.env.Process.Process()
		v.Listeners, v.Usage, v.HTTPRequests, v.Digest = p.Listeners, p.Usage, p.Requests, p.Digest
		v.OCSPCache = p.OCSP
		if p.Loaded != 0 {
			v.Loaded = monitor.Stamp(p.Loaded)
		}
	}
	return v
}
