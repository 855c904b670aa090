package proxyproto

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	four = []byte{203, 0, 113, 9, 10, 0, 0, 1, 0xc3, 0x50, 0x10, 0x7e}
	six  = v2Addresses("2001:db8::1", "::1", 50001, 4222)
)

func v2Addresses(from, to string, fromPort, toPort uint16) []byte {
	b := append(netip.MustParseAddr(from).AsSlice(), netip.MustParseAddr(to).AsSlice()...)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, fromPort), toPort)
}

// v2 is a header of version 2: the byte of version and command, that of family and transport, and what follows.
func v2(command, family byte, body ...byte) string {
	b := binary.BigEndian.AppendUint16(append([]byte(signature2), command, family), uint16(len(body)))
	return string(append(b, body...))
}

func TestHeaders(t *testing.T) {
	behind := func(head []byte, n int) []byte { return append(bytes.Clone(head), bytes.Repeat([]byte{4}, n)...) }
	for _, c := range []struct{ name, header, want string }{ // want: an address, none, or a part of the error
		{"TCP4", "PROXY TCP4 203.0.113.7 10.0.0.1 40000 4222\r\n", "203.0.113.7:40000"},
		{"TCP4, the least", "PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", "0.0.0.0:0"},
		{"TCP4, the greatest", "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535"},
		{"TCP6", "PROXY TCP6 2001:DB8:0::00F1 ::1 40000 4222\r\n", "[2001:db8::f1]:40000"},
		{"TCP6, the longest", "PROXY TCP6 " + strings.Repeat("ffff:", 7) + "ffff " + strings.Repeat("ffff:", 7) + "ffff 65535 65535\r\n", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
		{"TCP6 for an address of IPv4", "PROXY TCP6 ::ffff:192.0.2.1 ::ffff:10.0.0.1 1 2\r\n", "192.0.2.1:1"},
		{"UNKNOWN", "PROXY UNKNOWN\r\n", "none"},
		{"UNKNOWN with more", "PROXY UNKNOWN ffff::1 no matter what\r\n", "none"},
		{"UNKNOWN of 107 bytes", "PROXY UNKNOWN " + strings.Repeat("x", 91) + "\r\n", "none"},
		{"UNKNOWN of 108 bytes", "PROXY UNKNOWN " + strings.Repeat("x", 92) + "\r\n", "longer than 107"},
		{"no line at all", "PROXY " + strings.Repeat("x", 300), "longer than 107"},
		{"blanks", "PROXY  TCP4\t1.2.3.4  5.6.7.8 01 1 \r\n", "1.2.3.4:1"},
		{"nothing", "PROXY \r\n", "six fields"},
		{"a field missing", "PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n", "six fields"},
		{"a field too many", "PROXY TCP4 1.2.3.4 5.6.7.8 1 1 1\r\n", "six fields"},
		{"UNKNOWN and more of the word", "PROXY UNKNOWNS\r\n", "six fields"},
		{"lower case", "PROXY tcp4 1.2.3.4 5.6.7.8 1 1\r\n", "TCP4, TCP6 and UNKNOWN"},
		{"UDP4", "PROXY UDP4 1.2.3.4 5.6.7.8 1 1\r\n", "TCP4, TCP6 and UNKNOWN"},
		{"an address of the other family", "PROXY TCP4 ::1 ::1 1 1\r\n", "source address"},
		{"one that stands for the other", "PROXY TCP4 ::ffff:1.2.3.4 1.2.3.4 1 1\r\n", "source address"},
		{"the other way round", "PROXY TCP6 1.2.3.4 ::1 1 1\r\n", "source address"},
		{"a zone", "PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n", "source address"},
		{"a zero before", "PROXY TCP4 01.2.3.4 5.6.7.8 1 1\r\n", "source address"},
		{"a part missing", "PROXY TCP4 1.2.3 5.6.7.8 1 1\r\n", "source address"},
		{"a destination of the other family", "PROXY TCP4 1.2.3.4 ::1 1 1\r\n", "destination address"},
		{"no destination", "PROXY TCP4 1.2.3.4 there 1 1\r\n", "destination address"},
		{"a port too high", "PROXY TCP4 1.2.3.4 5.6.7.8 65536 1\r\n", "port"},
		{"a port below zero", "PROXY TCP4 1.2.3.4 5.6.7.8 -1 1\r\n", "port"},
		{"a signed port", "PROXY TCP4 1.2.3.4 5.6.7.8 +1 1\r\n", "port"},
		{"the other port too high", "PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n", "port"},
		{"LF alone", "PROXY TCP4 1.2.3.4 5.6.7.8 1 1\n", "CRLF"},
		{"LF within", "PROXY TCP4 1.2.3.4\n5.6.7.8 1 1\r\n", "CRLF"},
		{"CR within", "PROXY TCP4 1.2.3.4\r5.6.7.8 1 1\r\n", "CRLF"},

		{"PROXY over TCP4", v2(0x21, 0x11, four...), "203.0.113.9:50000"},
		{"PROXY over TCP6", v2(0x21, 0x21, six...), "[2001:db8::1]:50001"},
		{"PROXY over TCP6 for an address of IPv4", v2(0x21, 0x21, v2Addresses("::ffff:192.0.2.1", "::ffff:10.0.0.1", 1, 2)...), "192.0.2.1:1"},
		{"TLV behind", v2(0x21, 0x11, behind(four, 6)...), "203.0.113.9:50000"},
		{"as much as there may be", v2(0x21, 0x21, behind(six, 65535-len(six))...), "[2001:db8::1]:50001"},
		{"addresses of IPv6 for TCP4", v2(0x21, 0x11, six...), "32.1.13.184:0"},
		{"LOCAL", v2(0x20, 0x00), "none"},
		{"LOCAL with addresses", v2(0x20, 0x11, four...), "none"},
		{"LOCAL with what nobody knows", v2(0x20, 0xff, behind(nil, 65535)...), "none"},
		{"unspecified", v2(0x21, 0x00), "none"},
		{"unspecified with more", v2(0x21, 0x00, 1, 2, 3), "none"},
		{"no family, a stream", v2(0x21, 0x01, 1, 2, 3), "none"},
		{"UDP4", v2(0x21, 0x12, four...), "none"},
		{"UDP6", v2(0x21, 0x22, six...), "none"},
		{"a socket file", v2(0x21, 0x31, behind(nil, 216)...), "none"},
		{"a socket file for datagrams", v2(0x21, 0x32, behind(nil, 216)...), "none"},
		{"version 1 in binary", v2(0x11, 0x11, four...), "version"},
		{"version 3", v2(0x31, 0x11, four...), "version"},
		{"command 2", v2(0x22, 0x11, four...), "command"},
		{"family 4", v2(0x21, 0x41, four...), "address family"},
		{"transport 3", v2(0x21, 0x13, four...), "address family"},
		{"IPv4 without transport", v2(0x21, 0x10, four...), "address family"},
		{"addresses of IPv4 that are short", v2(0x21, 0x11, four[:11]...), "length"},
		{"addresses of IPv6 that are short", v2(0x21, 0x21, six[:35]...), "length"},
		{"a signature that ends otherwise", "\r\n\r\n\x00\r\nQUIX\n", "signature"},

		{"a client", "CONNECT {}\r\n", "absent"},
		{"a client that pings", "PING\r\n", "absent"},
		{"a handshake", "\x16\x03\x01", "absent"},
		{"PROXY without a blank", "PROXY\r\n", "absent"},
		{"lower case from the first", "proxy TCP4 1.2.3.4 5.6.7.8 1 1\r\n", "absent"},
		{"empty lines", "\r\n\r\n\r\n", "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := read(c.header + "behind")
			if got := whole.told(); c.want != got && (whole.err == nil || errors.Is(whole.err, ErrAbsent) || !strings.Contains(got, c.want)) {
				t.Fatalf("got %s, want %s", got, c.want)
			}
			if whole.err == nil && whole.rest != "behind" {
				t.Errorf("%q is left", whole.rest)
			}
			if len(c.header) > 1000 {
				return // the rest is quadratic
			}
			if bytewise := read(strings.Split(c.header+"behind", "")...); bytewise != whole {
				t.Errorf("byte by byte it is %+v, else %+v", bytewise, whole)
			}
			for n := range len(c.header) {
				got := read(c.header[:n])
				if n < signatureMin && got.err == nil && got.done || n < len(c.header) && got.done {
					t.Errorf("complete after %d bytes", n)
				}
				if whole.err == nil && got.err != nil {
					t.Errorf("%v after %d bytes", got.err, n)
				}
			}
		})
	}
}

// outcome is what a Reader made of a stream.
type outcome struct {
	source netip.AddrPort
	named  bool
	done   bool
	rest   string // behind the header; all, where there is none
	err    error
}

func (o outcome) told() string {
	switch {
	case errors.Is(o.err, ErrAbsent):
		return "absent"
	case o.err != nil:
		return o.err.Error()
	case o.named:
		return o.source.String()
	case o.done:
		return "none"
	}
	return "incomplete"
}

// read gives a Reader a stream in pieces.
func read(pieces ...string) (o outcome) {
	var r Reader
	for i, p := range pieces {
		rest, done, err := r.Take([]byte(p))
		after := strings.Join(pieces[i+1:], "")
		switch {
		case errors.Is(err, ErrAbsent):
			return outcome{err: err, rest: string(r.Kept()) + p + after}
		case err != nil:
			return outcome{err: err}
		case done:
			o.source, o.named = r.Source()
			o.done, o.rest = true, string(rest)+after
			return o
		}
	}
	return o
}

// In whatever pieces a stream arrives, it is the same header, and nothing is lost or taken of what is behind.
func piecesMakeNoDifference(t *rapid.T) {
	stream := drawStream(t)
	var pieces []string
	for rest := stream; rest != ""; {
		n := rapid.IntRange(0, len(rest)).Draw(t, "piece")
		if rapid.Bool().Draw(t, "small") {
			n = min(n, 3)
		}
		if n == 0 && len(pieces) > 50 {
			n = len(rest)
		}
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	whole, cut := read(stream), read(pieces...)
	if whole != cut {
		t.Fatalf("%q: whole %+v, in pieces %+v", stream, whole, cut)
	}
	if errors.Is(whole.err, ErrAbsent) && whole.rest != stream {
		t.Fatalf("%q is not what came: %q", whole.rest, stream)
	}
	if whole.done && !strings.HasSuffix(stream, whole.rest) {
		t.Fatalf("%q is not the end of %q", whole.rest, stream)
	}
}

// drawStream draws what may stand at the beginning of a connection: headers, whole, damaged or cut short, and other things.
func drawStream(t *rapid.T) string {
	addr := rapid.SampledFrom([]string{"1.2.3.4", "203.0.113.9", "::1", "::ffff:1.2.3.4", "2001:db8::7", "x", ""})
	port := rapid.SampledFrom([]string{"0", "1", "65535", "65536", "-1"})
	stream := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return "PROXY " + rapid.SampledFrom([]string{"TCP4", "TCP6", "UNKNOWN", "UDP4"}).Draw(t, "protocol") + " " + addr.Draw(t, "from") + " " +
				addr.Draw(t, "to") + " " + port.Draw(t, "port") + " " + port.Draw(t, "port") + rapid.SampledFrom([]string{"\r\n", "\n", "\r", " \r\n"}).Draw(t, "end")
		}),
		rapid.Custom(func(t *rapid.T) string {
			return v2(byte(rapid.SampledFrom([]int{0x20, 0x21, 0x21, 0x11, 0x22}).Draw(t, "command")), byte(rapid.SampledFrom([]int{0, 1, 0x11, 0x11, 0x12, 0x21, 0x21, 0x22, 0x31, 0x41}).Draw(t, "family")),
				rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "body")...)
		}),
		rapid.SampledFrom([]string{"CONNECT {}\r\n", "PING\r\n", "P", "\r\n", "\x16\x03\x01"}),
		rapid.String(),
	).Draw(t, "stream")
	if len(stream) > 0 && rapid.IntRange(0, 3).Draw(t, "damaged") == 0 {
		b := []byte(stream)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "where")] = rapid.Byte().Draw(t, "with")
		stream = string(b)
	}
	if rapid.IntRange(0, 3).Draw(t, "short") == 0 {
		return stream[:rapid.IntRange(0, len(stream)).Draw(t, "length")]
	}
	return stream + rapid.SampledFrom([]string{"", "PING\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\r\n", "\x16\x03\x01\x00"}).Draw(t, "behind")
}

func TestPiecesMakeNoDifference(t *testing.T) { rapid.Check(t, piecesMakeNoDifference) }

func FuzzPiecesMakeNoDifference(f *testing.F) { f.Fuzz(rapid.MakeFuzz(piecesMakeNoDifference)) }

// Arbitrary bytes, cut in two anywhere, mean the same as in one piece.
func FuzzBytes(f *testing.F) {
	f.Add([]byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 1\r\nPING\r\n"), 20)
	f.Add([]byte(v2(0x21, 0x11, four...)), 14)
	f.Add([]byte(v2(0x21, 0x21, six...)), 30)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		if at < 0 || at > len(b) {
			return
		}
		if whole, cut := read(string(b)), read(string(b[:at]), string(b[at:])); whole != cut {
			t.Errorf("whole %+v, in two %+v", whole, cut)
		}
	})
}
