package proxyproto

import (
	"bytes"
	"errors"
	"net/netip"
	"strconv"
)

// v1Max is how long a header of version 1 may be, with the CRLF that ends it.
const v1Max = 107

// Mistakes in a header of version 1: one line of text.
var (
	errLineLong    = errors.New("the line is longer than 107 bytes")
	errLineEnd     = errors.New("the line does not end with CRLF")
	errFields      = errors.New("the line does not have six fields")
	errProtocol    = errors.New("the protocol is none of TCP4, TCP6 and UNKNOWN")
	errSource      = errors.New("the source address can't be read, or is not of the protocol's family")
	errDestination = errors.New("the destination address can't be read, or is not of the protocol's family")
	errPort        = errors.New("a port is not a number from 0 to 65535")
)

func parse1(b []byte) (size int, source netip.AddrPort, err error) {
	b = b[:min(len(b), v1Max)]
	end := bytes.IndexByte(b, '\n')
	cr := bytes.IndexByte(b, '\r')
	switch {
	case end > 0 && cr == end-1:
		source, err = parseLine(b[:cr])
		return end + 1, source, err
	case end >= 0, cr >= 0 && cr < len(b)-1:
		return 0, source, errLineEnd
	case len(b) == v1Max:
		return 0, source, errLineLong
	default:
		return 0, source, errShort
	}
}

// parseLine reads the line without its end. Blanks between fields may be several, as nats-server takes them.
func parseLine(line []byte) (source netip.AddrPort, err error) {
	fields := bytes.Fields(line)
	if len(fields) >= 2 && string(fields[1]) == "UNKNOWN" {
		return source, nil // what follows is to be passed over
	}
	if len(fields) != 6 {
		return source, errFields
	}
	four := false
	switch string(fields[1]) {
	case "TCP4":
		four = true
	case "TCP6":
	default:
		return source, errProtocol
	}
	from, ok := parseAddr(fields[2], four)
	if !ok {
		return source, errSource
	}
	if _, ok := parseAddr(fields[3], four); !ok {
		return source, errDestination
	}
	port, err := strconv.ParseUint(string(fields[4]), 10, 16)
	if err != nil {
		return source, errPort
	}
	if _, err := strconv.ParseUint(string(fields[5]), 10, 16); err != nil {
		return source, errPort
	}
	return netip.AddrPortFrom(from.Unmap(), uint16(port)), nil
}

// parseAddr reads an address of one family. ::ffff:192.0.2.1 is one of IPv6.
func parseAddr(text []byte, four bool) (netip.Addr, bool) {
	a, err := netip.ParseAddr(string(text))
	return a, err == nil && a.Is4() == four && a.Zone() == ""
}
