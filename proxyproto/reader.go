package proxyproto

import (
	"errors"
	"net/netip"
	"strings"
)

// signatureMin is how many bytes tell a header from everything else. What begins with fewer of them and ends, or goes on otherwise, is
// no header; what begins with so many is one, whatever follows.
const signatureMin = 6

const (
	signature1 = "PROXY "
	signature2 = "\r\n\r\n\x00\r\nQUIT\n"
)

// ErrAbsent says that a connection begins with something else than a header.
var ErrAbsent = errors.New("no PROXY protocol header")

// errShort is what a parser returns for the beginning of a header.
var errShort = errors.New("the header is not complete")

// Reader takes the header at the beginning of a connection. Its zero value is ready for one.
type Reader struct {
	source netip.AddrPort
	kept   [v1Max]byte // enough for what counts of version 2 too
	n      int         // bytes kept
	skip   int         // bytes of the header that are still to come, once it is known how many
}

// Take takes data, what has arrived next on the connection. It returns the bytes behind the header and true once the header is complete;
// before that it needs more and returns nothing. Both are false and nil, too, of an empty data.
//
// With ErrAbsent there is no header: everything that was given to Take, first what Kept returns, then data, belongs to what the
// connection is for. Any other error says what is wrong with the header. After either, and after the header is complete, Take must
// not be called again. rest is a part of data.
func (r *Reader) Take(data []byte) (rest []byte, done bool, err error) {
	if r.skip > 0 {
		return r.pass(data)
	}
	before := r.n
	size, source, err := parse(r.kept[:before+copy(r.kept[before:], data)])
	if errors.Is(err, errShort) {
		r.n = min(before+len(data), v1Max)
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	r.n, r.skip, r.source = min(size, v1Max), size-before, source
	return r.pass(data)
}

// pass passes over what data has of the rest of the header.
func (r *Reader) pass(data []byte) (rest []byte, done bool, err error) {
	k := min(r.skip, len(data))
	r.skip -= k
	if r.skip > 0 {
		return nil, false, nil
	}
	return data[k:], true, nil
}

// Kept is what calls of Take that needed more have taken, if Take has found then that it is no header: the beginning of a signature.
// It is a part of the Reader.
func (r *Reader) Kept() []byte { return r.kept[:r.n] }

// Begun reports whether anything has arrived.
func (r *Reader) Begun() bool { return r.n > 0 }

// Source is the client's address, and true, once the header is complete. Without an address it is false: the proxy speaks for
// itself, or does not know the client, or it came by something that has no such address. Then the connection's own address counts.
// An IPv4 address is never the IPv6 address that stands for it.
func (r *Reader) Source() (netip.AddrPort, bool) { return r.source, r.source.IsValid() }

// parse reads the header that b begins with: how long it is, which may be more than b is, and whom it names. Of the first v1Max bytes
// of a stream it says what it would say of all.
func parse(b []byte) (size int, source netip.AddrPort, err error) {
	head := string(b[:min(len(b), signatureMin)])
	switch {
	case head == signature1:
		return parse1(b)
	case head == signature2[:signatureMin]:
		return parse2(b)
	case strings.HasPrefix(signature1, head), strings.HasPrefix(signature2, head):
		return 0, source, errShort
	}
	return 0, source, ErrAbsent
}
