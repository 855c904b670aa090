package engine

import (
	"encoding/json"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/wire"
)

// apiLevel is the JetStream API level that INFO of the compatible version names (ADR-44).
const apiLevel = 5

// makeInfo fills what every INFO has in common.
func (e *Engine) makeInfo() {
	var seed [32]byte
	fill := func() {
		for i := 0; i < len(seed); i += 8 {
			v := e.env.Rand.Uint64()
			for j := range 8 {
				seed[i+j] = byte(v >> (8 * j))
			}
		}
	}
	fill()
	e.keys.sign = keyPair(nkeys.PrefixByteServer, seed[:])
	fill()
	e.keys.curve = keyPair(nkeys.PrefixByteCurve, seed[:])
	id := publicOf(e.keys.sign)
	e.info = wire.Info{
		ServerID: id, ServerName: e.opts.ServerName, Version: NatsVersion, Proto: 1,
		GitCommit: e.opts.GitCommit, GoVersion: e.opts.GoVersion, Natsd: e.opts.NatsdVersion,
		Headers: !e.opts.NoHeaders, MaxPayload: e.opts.MaxPayload,
		AuthRequired: e.authRequired(),
		APILevel:     apiLevel, XKey: publicOf(e.keys.curve),
	}
	if e.info.ServerName == "" {
		e.info.ServerName = id
	}
	e.tlsInfoFlags(&e.info)
	e.listening = Port{Host: e.opts.Host}
	e.setInfoAddress()
}

func publicKey(kind nkeys.PrefixByte, seed []byte) string { return publicOf(keyPair(kind, seed)) }

func keyPair(kind nkeys.PrefixByte, seed []byte) nkeys.KeyPair {
	var pair nkeys.KeyPair
	raw, err := nkeys.EncodeSeed(kind, seed)
	if err == nil {
		if kind == nkeys.PrefixByteCurve {
			pair, err = nkeys.FromCurveSeed(raw)
		} else {
			pair, err = nkeys.FromSeed(raw)
		}
	}
	if err != nil {
		panic("engine: 32 bytes are always a seed: " + err.Error())
	}
	return pair
}

func publicOf(pair nkeys.KeyPair) string {
	public, err := pair.PublicKey()
	if err != nil {
		panic("engine: a seed always has a public key: " + err.Error())
	}
	return public
}

func (e *Engine) setInfoAddress() {
	e.info.Host, e.info.Port = e.listening.Host, e.listening.Port
	if host, port := splitHostPort(e.opts.ClientAdvertise); host != "" {
		e.info.Host = host
		if port > 0 {
			e.info.Port = port
		}
	}
}

// turnedAwayMax is how many connections above MaxConnections are told so at a time. Others are closed without a word: they
// would take memory while the answer is on its way.
const turnedAwayMax = 1000

// crowded reports whether there are so many connections that another one is not even told so.
func (e *Engine) crowded() bool {
	closing := len(e.conns) - len(e.free) - e.active
	return e.active >= e.opts.MaxConnections && closing >= turnedAwayMax
}

// greet sends a new connection its INFO, and turns it away if there are too many.
func (e *Engine) greet(c *conn) {
	who := e.silent(c)
	if c.authed = who != nil || !e.users.required(); who != nil {
		e.become(c, who)
	}
	if len(e.users.byNkey) > 0 || e.trust != nil || len(e.opts.Proxies) > 0 {
		c.nonce = e.newNonce()
	}
	o := wire.DefaultConnect()
	c.verbose, c.pedantic, c.echo = o.Verbose, o.Pedantic, o.Echo
	if e.debugs(c) {
		e.logf(e.debugLevel(), c.subject(), "Client connection created")
	}
	e.active++
	e.sendInfo(c, func(i *wire.Info) {
		if e.opts.ProxyProtocol {
			i.ClientIP = "" // it is not known yet
		}
	})
	if e.active > e.opts.MaxConnections {
		e.mark(MarkMaxConns)
		e.protocolError(c, wire.ErrMaxConnections, ReasonMaxConns)
		return
	}
	if e.state >= stateStopping {
		e.closeConn(c, ReasonShutdown, "")
		return
	}
	if e.throttled() {
		e.closeConn(c, ReasonMaxConns, wire.ErrThrottled) // the log is told of all of them together
		return
	}
	if !c.authed {
		c.authEnd = later(e.now, e.opts.AuthTimeout)
	}
	if e.opts.TLS.On {
		e.awaitTLS(c)
	}
	if e.opts.ProxyProtocol {
		e.awaitProxy(c)
	}
	c.pingAt = later(e.now, e.opts.PingInterval)
	e.arm(c)
}

// sendInfo sends INFO as it is for this connection, changed by edit.
func (e *Engine) sendInfo(c *conn, edit func(*wire.Info)) {
	info := e.info
	info.ClientID, info.ClientIP, info.Nonce = c.cid, c.ip, c.nonce
	info.LameDuckMode = e.duck.on
	edit(&info)
	e.lineScratch = wire.AppendInfo(e.lineScratch[:0], &info)
	e.sendBytes(c, e.lineScratch)
}

// roundTrip is how long a message takes to the connection and back, as far as it is known; 0: not at all.
func (c *conn) roundTrip() Instant {
	if c.rtt > 0 {
		return c.rtt
	}
	return c.hello
}

// connect carries out a CONNECT, the first or a later one.
func (e *Engine) connect(c *conn, args []byte) {
	if err := c.connect.Parse(args); err != nil {
		e.complain(c, "CONNECT can't be read: "+printable([]byte(err.Error())))
		e.protocolError(c, wire.ErrParser, ReasonProtocol)
		return
	}
	if c.hello == 0 {
		c.hello = max(e.now-c.startMono, 1)
	}
	if c.connect.ProxySig != "" && len(e.opts.Proxies) > 0 && c.proxy == "" {
		e.verifyProxy(c)
		return
	}
	e.connectAs(c)
}

// connectAs goes on with a CONNECT when it is known whether a proxy vouches for it.
func (e *Engine) connectAs(c *conn) {
	switch {
	case c.connect.Account != "" || c.connect.AccountNew:
		e.authViolation(c) // clients don't choose their account
	case e.users.required():
		e.authenticate(c, true)
	default:
		e.accept(c)
		e.ok(c)
	}
}

// accept takes over the options of a CONNECT whose credentials were accepted.
func (e *Engine) accept(c *conn) {
	o := &c.connect
	if !c.connected && e.opts.PingInterval > 0 {
		// Early, for the round-trip time, and not at once for all that reconnect after a restart.
		first := Instant(min(firstPing, e.opts.PingInterval))
		c.pingAt = e.now + first + first/40 + Instant(e.rng.Int64N(int64(first/8)+1))
	}
	c.authed, c.connected = true, true
	c.authEnd = 0
	c.verbose, c.pedantic, c.echo = o.Verbose, o.Pedantic, o.Echo
	c.headers = o.Headers && !e.opts.NoHeaders
	c.noResp = o.NoResponders
	if !e.suits(c) {
		return
	}
	if !c.told {
		e.announce(c)
	}
	e.arm(c)
}

// suits reports whether a CONNECT asks for nothing but what there is; if not, the connection is closed.
func (e *Engine) suits(c *conn) bool {
	switch o := &c.connect; {
	case o.Protocol < 0 || o.Protocol > 1:
		e.protocolError(c, wire.ErrInvalidProtocol, ReasonBadVersion)
	case o.NoResponders && (!o.Headers || e.opts.NoHeaders):
		e.protocolError(c, wire.ErrNoRespondersNoHdr, ReasonNoHeaders)
	default:
		return true
	}
	return false
}

func (e *Engine) pinged(c *conn) {
	e.sendString(c, "PONG\r\n")
	if !c.connected || c.greeted {
		return
	}
	if c.greeted = true; c.connect.Protocol >= 1 {
		e.sendInfo(c, func(i *wire.Info) {
			i.ConnectInfo, i.RemoteAccount, i.AuthRequired = true, c.acc.name, e.users.required()
			i.IsSystem = c.acc == e.system
			i.Nonce = "" // it has been used
			i.MaxPayload = min(i.MaxPayload, c.payloadMax)
		})
	}
}

func (e *Engine) ponged(c *conn) {
	c.pingsOut = 0
	if c.pingSent > 0 {
		c.rtt = max(e.now-c.pingSent, 1)
		c.pingSent = 0
	}
}

// clientInfo takes an INFO from a client: it means nothing, but must be one.
func (e *Engine) clientInfo(c *conn, args []byte) {
	var object struct{}
	if json.Unmarshal(args, &object) != nil {
		e.protocolError(c, wire.ErrParser, ReasonProtocol)
	}
}
