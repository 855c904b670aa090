package sim

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/natsd/natsd/sim/oracle"
	"github.com/natsd/natsd/sim/schedule"
)

// published is what a client remembers of a message, to know it again.
type published struct {
	subject string
	epoch   uint32
	size    int32 // bytes of payload
	header  int32 // bytes of headers; 0: none
	barred  bool  // it must reach nobody
	at      schedule.Time
	end     int64 // where it ends in what the connection wrote, bytes
}

// stampSize is the size of the stamp at the head of a payload that has room for one: client, connection, number, check.
// A smaller payload travels with the same in its reply subject.
const stampSize = 20

// tinyReply begins the reply subject of a message whose payload has no room for a stamp.
const tinyReply = "_TINY."

// inboxReply begins the reply subject of a request.
const inboxReply = "_INBOX."

// stampCheck ties a stamp to the size of payload and headers, so that none is taken for one by accident.
func stampCheck(id oracle.ID, n uint64, p published) uint64 {
	hi, lo := bits.Mul64(uint64(id)^0x9e3779b97f4a7c15, n^traceMul)
	h, l := bits.Mul64(hi^lo^traceSeed, uint64(p.size)<<32|uint64(p.header)|1<<63)
	return h ^ l
}

// appendPayload appends the payload of a publish: the stamp, if there is room, and bytes that follow from it.
func appendPayload(b []byte, id oracle.ID, n uint64, p published) []byte {
	check := stampCheck(id, n, p)
	left := int(p.size)
	if left >= stampSize {
		b = binary.LittleEndian.AppendUint16(b, uint16(id.Client()))
		b = binary.LittleEndian.AppendUint16(b, uint16(id.Epoch()))
		b = binary.LittleEndian.AppendUint64(b, n)
		b = binary.LittleEndian.AppendUint64(b, check)
		left -= stampSize
	}
	x := check
	for left >= 8 {
		x = filler(x)
		b = binary.LittleEndian.AppendUint64(b, x)
		left -= 8
	}
	x = filler(x)
	for ; left > 0; left-- {
		b = append(b, byte(x))
		x >>= 8
	}
	return b
}

// filler is the step of a linear congruential generator: cheap, and no two payloads share much.
func filler(x uint64) uint64 { return x*6364136223846793005 + 1442695040888963407 }

// samePayload reports whether b is the payload of that publish.
func samePayload(b []byte, id oracle.ID, n uint64, p published) bool {
	if len(b) != int(p.size) {
		return false
	}
	check := stampCheck(id, n, p)
	if len(b) >= stampSize {
		b = b[stampSize:] // the stamp named the publish: it is whole
	}
	x := check
	for len(b) >= 8 {
		x = filler(x)
		if binary.LittleEndian.Uint64(b) != x {
			return false
		}
		b = b[8:]
	}
	x = filler(x)
	for _, c := range b {
		if c != byte(x) {
			return false
		}
		x >>= 8
	}
	return true
}

// readStamp finds the stamp of a payload that has one.
func readStamp(b []byte) (id oracle.ID, n uint64, check uint64, ok bool) {
	if len(b) < stampSize {
		return 0, 0, 0, false
	}
	id = oracle.IDOf(uint32(binary.LittleEndian.Uint16(b)), uint32(binary.LittleEndian.Uint16(b[2:])))
	return id, binary.LittleEndian.Uint64(b[4:]), binary.LittleEndian.Uint64(b[12:]), true
}

// appendReply appends a reply subject that names a publish.
func appendReply(b []byte, prefix string, id oracle.ID, n uint64) []byte {
	b = append(b, prefix...)
	b = strconv.AppendUint(b, uint64(id.Client()), 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, uint64(id.Epoch()), 10)
	b = append(b, '.')
	return strconv.AppendUint(b, n, 10)
}

// readReply finds the publish that a reply subject names.
func readReply(b []byte, prefix string) (id oracle.ID, n uint64, ok bool) {
	if len(b) <= len(prefix) || string(b[:len(prefix)]) != prefix {
		return 0, 0, false
	}
	var v [3]uint64
	rest := b[len(prefix):]
	for i := range v {
		part := rest
		if i < 2 {
			at := bytes.IndexByte(rest, '.')
			if at < 0 {
				return 0, 0, false
			}
			part, rest = rest[:at], rest[at+1:]
		}
		if v[i], ok = number(part); !ok {
			return 0, 0, false
		}
	}
	return oracle.IDOf(uint32(v[0]), uint32(v[1])), v[2], true
}

// headerLine begins every block of headers that a client publishes.
const headerLine = "NATS/1.0\r\nSim: "

// appendHeader appends a block of headers of exactly size bytes, which headerSize has rounded.
func appendHeader(b []byte, id oracle.ID, n uint64, size int) []byte {
	start := len(b)
	b = appendReply(append(b, headerLine...), "", id, n)
	b = append(b, "\r\nPad: "...)
	for len(b)-start < size-4 {
		b = append(b, 'x')
	}
	return append(b, "\r\n\r\n"...)
}

// headerSize is a size that a block of headers can have, not far from the one wanted.
func headerSize(wanted int) int { return max(wanted, 96) }
