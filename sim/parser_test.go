package sim

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/sim/oracle"
)

const conversation = "INFO {\"a\":1} \r\nPING\r\nPONG\r\n+OK\r\n-ERR 'Stale Connection'\r\n" +
	"MSG a.b 1 0\r\n\r\nMSG a 22 reply 5\r\nhello\r\nHMSG a 3 12 14\r\nNATS/1.0\r\n\r\nhi\r\nHMSG a 3 r 12 12\r\nNATS/1.0\r\n\r\n\r\n"

// TestParserTakesAnyCut: what a client understands does not depend on how the bytes arrive.
func TestParserTakesAnyCut(t *testing.T) {
	read := func(cuts func(left int) int) string {
		var p parser
		var in inbound
		var told strings.Builder
		var data []byte
		for rest := conversation; len(rest) > 0; {
			n := cuts(len(rest))
			data = append(data, rest[:n]...)
			rest = rest[n:]
			for {
				left, ok, wrong := p.next(data, &in)
				if wrong != "" {
					t.Fatal(wrong)
				}
				if !ok {
					break
				}
				told.WriteString(string(rune('a'+in.verb)) + string(in.args) + string(in.subject) + string(in.reply) +
					string(in.header) + string(in.payload) + "|")
				data = left
			}
		}
		if len(data) > 0 {
			t.Fatalf("%q is left", data)
		}
		return told.String()
	}
	whole := read(func(left int) int { return left })
	rapid.Check(t, func(r *rapid.T) {
		if got := read(func(left int) int { return rapid.IntRange(1, min(left, 9)).Draw(r, "cut") }); got != whole {
			r.Fatalf("got %q, want %q", got, whole)
		}
	})
}

func TestParserIsPedantic(t *testing.T) {
	for _, wrong := range []string{
		"PONG \r\n", "pong\r\n", "PONG\n", "\r\n", "MSG a 1\r\n", "MSG a 1 r 2 3\r\n", "MSG  a 1 2\r\n", "MSG a 1 -2\r\n", "MSG a 1 2\r\nhix\r\n",
		"HMSG a 1 5 3\r\n", "-ERR x\r\n", "INFO x\r\n", "+OK yes\r\n",
	} {
		var p parser
		var in inbound
		if _, ok, why := p.next([]byte(wrong), &in); ok || why == "" {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestPayloads: a payload names its publish, and any other byte in it is noticed.
func TestPayloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := oracle.IDOf(uint32(rapid.IntRange(0, 60000).Draw(t, "client")), uint32(rapid.IntRange(0, 60000).Draw(t, "epoch")))
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		p := published{size: int32(rapid.IntRange(0, 300).Draw(t, "size")), header: int32(rapid.IntRange(0, 200).Draw(t, "header"))}
		b := appendPayload(nil, id, n, p)
		if len(b) != int(p.size) || !samePayload(b, id, n, p) {
			t.Fatalf("%d bytes that are not the payload of %d", len(b), p.size)
		}
		if len(b) >= stampSize {
			gotID, gotN, check, ok := readStamp(b)
			if !ok || gotID != id || gotN != n || check != stampCheck(id, n, p) {
				t.Fatal("the stamp is not the publish's")
			}
		}
		if len(b) > stampSize || len(b) > 0 && len(b) < stampSize {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			if len(b) > stampSize {
				at = rapid.IntRange(stampSize, len(b)-1).Draw(t, "behind the stamp")
			}
			b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			if samePayload(b, id, n, p) {
				t.Fatalf("bit flipped at %d unnoticed", at)
			}
		}
		reply := appendReply(nil, tinyReply, id, n)
		if gotID, gotN, ok := readReply(reply, tinyReply); !ok || gotID != id || gotN != n {
			t.Fatalf("%q is not read back", reply)
		}
		if size := headerSize(int(p.header)); len(appendHeader(nil, id, n, size)) != size {
			t.Fatalf("a block of headers is not %d bytes", size)
		}
	})
}
