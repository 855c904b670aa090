package sim

import (
	"bytes"
	"strconv"
)

// parser cuts what a server sends into control lines and messages, as pedantically as the protocol allows: anything that
// a server must not send is a failure.
type parser struct {
	rest []byte // the beginning of what is not complete
}

// inbound is one thing that a server said. The slices are borrowed until the next call.
type inbound struct {
	verb    inboundVerb
	args    []byte // of INFO, -ERR
	subject []byte
	sid     uint64
	odd     bool // the sid is no number
	reply   []byte
	header  []byte // with its empty line; nil: none
	payload []byte
	size    int // of headers and payload, as the line says, though they may be to come
}

type inboundVerb uint8

const (
	saidInfo inboundVerb = iota
	saidMsg
	saidPing
	saidPong
	saidOK
	saidErr
)

// next takes one whole thing from data and returns it with what is left. ok is false when there is none yet; wrong says
// what is against the protocol.
func (p *parser) next(data []byte, in *inbound) (left []byte, ok bool, wrong string) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return data, false, ""
	}
	if end == 0 || data[end-1] != '\r' {
		return data, false, "a line that does not end in CRLF: " + quote(data[:end])
	}
	line, after := data[:end-1], data[end+1:]
	*in = inbound{}
	switch {
	case bytes.HasPrefix(line, []byte("MSG ")):
		return p.message(line[4:], data, after, false, in)
	case bytes.HasPrefix(line, []byte("HMSG ")):
		return p.message(line[5:], data, after, true, in)
	case string(line) == "PONG":
		in.verb = saidPong
	case string(line) == "PING":
		in.verb = saidPing
	case string(line) == "+OK":
		in.verb = saidOK
	case bytes.HasPrefix(line, []byte("-ERR '")) && line[len(line)-1] == '\'' && len(line) > 7:
		in.verb, in.args = saidErr, line[6:len(line)-1]
	case bytes.HasPrefix(line, []byte("INFO {")) && bytes.HasSuffix(line, []byte("} ")):
		in.verb, in.args = saidInfo, line[5:]
	default:
		return data, false, "a line that is none of the protocol's: " + quote(line)
	}
	return after, true, ""
}

// message takes "subject sid [reply] [header-size] size", the headers and the payload.
func (p *parser) message(args, data, after []byte, header bool, in *inbound) (left []byte, ok bool, wrong string) {
	var f [5][]byte
	n := 0
	for rest := args; ; n++ {
		if n == len(f) {
			return data, false, "too many arguments: " + quote(args)
		}
		at := bytes.IndexByte(rest, ' ')
		if at < 0 {
			f[n] = rest
			n++
			break
		}
		f[n], rest = rest[:at], rest[at+1:]
	}
	sizes := 1
	if header {
		sizes = 2
	}
	for _, arg := range f[:n] {
		if len(arg) == 0 {
			return data, false, "two spaces in a row: " + quote(args)
		}
	}
	if n != 2+sizes && n != 3+sizes {
		return data, false, "a wrong number of arguments: " + quote(args)
	}
	in.verb, in.subject = saidMsg, f[0]
	if n == 3+sizes {
		in.reply = f[2]
	}
	var okSid bool
	in.sid, okSid = number(f[1])
	in.odd = !okSid // the reader judges: who sends garbage, subscribes to garbage
	size, okSize := number(f[n-1])
	head := uint64(0)
	okHead := true
	if header {
		head, okHead = number(f[n-2])
	}
	if !okSize || !okHead || head > size {
		return data, false, "not numbers, or not in order: " + quote(args)
	}
	in.size = int(size)
	if uint64(len(after)) < size+2 {
		return data, false, ""
	}
	if after[size] != '\r' || after[size+1] != '\n' {
		return data, false, "a payload that is not followed by CRLF: " + quote(args)
	}
	if header {
		in.header = after[:head]
	}
	in.payload = after[head:size]
	return after[size+2:], true, ""
}

// number reads a decimal number as a server writes it: no sign. Leading zeros are those of the publisher.
func number(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// quote shows bytes, not all of many.
func quote(b []byte) string {
	const most = 120
	tail := ""
	if len(b) > most {
		b, tail = b[:most], "…"
	}
	return strconv.Quote(string(b)) + tail
}
