package proxyproto

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// A header of version 2 is binary: the signature, a byte with version and command, one with family and transport, the length of
// what follows in two bytes, then addresses and, behind them, what else the proxy knows (TLV), which is passed over.
const (
	v2Fixed = 16 // bytes before the addresses
	v2Four  = 12 // bytes of addresses and ports of IPv4
	v2Six   = 36 // the same of IPv6
)

const (
	commandLocal = 0x0
	commandProxy = 0x1
)

// Families and transports that the specification knows.
const (
	overUnspec  = 0x00
	overTCP4    = 0x11
	overUDP4    = 0x12
	overTCP6    = 0x21
	overUDP6    = 0x22
	overStream  = 0x31 // a socket in a file system
	overDgram   = 0x32
	overNothing = 0x01 // no family, and yet a stream: the specification has no such thing, nats-server takes it
)

// Mistakes in a header of version 2.
var (
	errSignature = errors.New("the signature is wrong")
	errVersion   = errors.New("the version is not 2")
	errCommand   = errors.New("the command is neither LOCAL nor PROXY")
	errFamily    = errors.New("the specification has no such address family and transport")
	errAddresses = errors.New("there is no room for the addresses in the length")
)

func parse2(b []byte) (size int, source netip.AddrPort, err error) {
	if n := min(len(b), len(signature2)); string(b[:n]) != signature2[:n] {
		return 0, source, errSignature
	}
	if len(b) > 12 && b[12]>>4 != 2 {
		return 0, source, errVersion
	}
	if len(b) < v2Fixed {
		return 0, source, errShort
	}
	length := int(binary.BigEndian.Uint16(b[14:]))
	size = v2Fixed + length
	switch b[12] & 0xf {
	case commandLocal:
		return size, source, nil // of the proxy's own, whatever it says besides
	case commandProxy:
	default:
		return 0, source, errCommand
	}
	need := 0
	switch b[13] {
	case overTCP4:
		need = v2Four
	case overTCP6:
		need = v2Six
	case overUnspec, overNothing, overUDP4, overUDP6, overStream, overDgram:
		return size, source, nil
	default:
		return 0, source, errFamily
	}
	if length < need {
		return 0, source, errAddresses
	}
	if len(b) < v2Fixed+need {
		return 0, source, errShort
	}
	return size, parseAddresses(b[v2Fixed : v2Fixed+need]), nil
}

// parseAddresses reads the source: its address, the destination's, its port, the destination's.
func parseAddresses(b []byte) netip.AddrPort {
	half := (len(b) - 4) / 2
	from, _ := netip.AddrFromSlice(b[:half]) // 4 or 16 bytes are always an address
	return netip.AddrPortFrom(from.Unmap(), binary.BigEndian.Uint16(b[2*half:]))
}
