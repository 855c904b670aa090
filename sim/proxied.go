package sim

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// Where the server takes the header of the PROXY protocol, most connections come by a proxy. It sends the header as soon as it is
// connected, and names another address than the one that the connection has, or says that it does not know.

// proxyHead is what a connection sends before all else.
type proxyHead struct {
	text   string
	claim  engine.ConnInfo // whom it names; zero: nobody
	broken bool            // the server must close it for that
	short  bool            // and nothing follows: the server must close it in the end
}

// Forms of the header that take turns.
const (
	headLine = iota
	headBinary
	headLineSix
	headExtended
	headLocal
	headNothing
	headUnspecified
	headForms
)

// proxied draws whether connections come by proxies.
func (d draw) proxied() bool { return d.of(cfgProxied, 0, 0, 0, 1) == 1 }

// drawHead draws the header of the connection that the client is about to make.
func (w *world) drawHead(c *client) proxyHead {
	if !w.cfg.engine.ProxyProtocol {
		return proxyHead{}
	}
	k := decision.Key{Kind: decision.SimDetail, Actor: c.actor, Purpose: detailHead, N: c.nextDial}
	form := w.source.Below(k, headForms)
	port := uint16(10_000 + c.nextDial%50_000)
	from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(1 + c.index%250)}), port)
	if form == headLineSix {
		from = netip.AddrPortFrom(netip.AddrFrom16([16]byte{0: 0x20, 1: 1, 2: 0xd, 3: 0xb8, 15: byte(1 + c.index%250)}), port)
	}
	h := proxyHead{text: headText(form, from)}
	if form != headLocal && form != headNothing && form != headUnspecified {
		h.claim = engine.ConnInfo{IP: from.Addr().String(), Port: int(port)}
	}
	switch {
	case !c.hostile:
	case c.kind == kindSilent && c.nextDial%3 != 0:
		h.text, h.claim, h.short = h.text[:len(h.text)/2], engine.ConnInfo{}, true
	case c.kind == kindSilent:
		h.short = h.text == ""
	case c.kind == kindHostile && c.nextDial%4 == 1:
		wrong := [...]string{"PROXY TCP4 1.2.3.4\r\n", "PROXY UNKNOWN\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 70000\r\n", signature2 + "\x21\x11\x00\x02ab", signature2 + "\x11\x11\x00\x00"}
		h = proxyHead{text: wrong[c.nextDial/4%uint64(len(wrong))], broken: true}
	}
	return h
}

const signature2 = "\r\n\r\n\x00\r\nQUIT\n"

// headText writes a header of the PROXY protocol.
func headText(form uint64, from netip.AddrPort) string {
	to := from.Addr()
	switch form {
	case headLine:
		return fmt.Sprintf("PROXY TCP4 %s %s %d %d\r\n", from.Addr(), to, from.Port(), serverPort)
	case headLineSix:
		return fmt.Sprintf("PROXY TCP6 %s %s %d %d\r\n", from.Addr(), to, from.Port(), serverPort)
	case headLocal:
		return signature2 + "\x20\x00\x00\x00"
	case headUnspecified:
		return signature2 + "\x21\x00\x00\x03abc"
	case headNothing:
		return ""
	}
	body := append(from.Addr().AsSlice(), to.AsSlice()...)
	body = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(body, from.Port()), serverPort)
	if form == headExtended {
		body = append(append(body, 4, 1, 44), make([]byte, 300)...)
	}
	return string(binary.BigEndian.AppendUint16([]byte(signature2+"\x21\x11"), uint16(len(body)))) + string(body)
}

// sendHead writes the header.
func (c *client) sendHead() {
	h := &c.heads[c.dial]
	c.out = append(c.out, h.text...)
	if h.broken || h.short {
		c.refusal("")
	}
	c.flush()
}

// whereabouts is where the server must say that the client is, in an INFO.
func (c *client) whereabouts() string {
	if c.w.cfg.engine.ProxyProtocol && !c.greeted {
		return "" // it does not know yet
	}
	if claim := c.heads[c.dial].claim; claim.IP != "" {
		return claim.IP
	}
	return c.host.IP()
}

// comesFrom reports whether the client is, or was, at that address.
func (c *client) comesFrom(ip string) bool {
	for i := range c.heads {
		if c.heads[i].claim.IP == ip {
			return true
		}
	}
	return ip == c.host.IP()
}
