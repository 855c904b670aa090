package main

import (
	"bytes"
	"errors"
	"fmt"
)

// op is what a server can send to a client.
type op int

// The operations of the server's half of the protocol.
const (
	opInfo op = iota
	opMsg
	opPing
	opPong
	opOK
	opErr
)

// frame is one operation of the server. Its slices point into the scanned
// buffer and are valid for as long as that is.
type frame struct {
	op      op
	subject []byte // of a MSG
	sid     []byte // of a MSG
	reply   []byte // of a MSG, nil when it has none
	payload []byte // of a MSG; of INFO and -ERR the rest of the line
}

// errFrame marks bytes that no server should send.
var errFrame = errors.New("malformed frame")

// controlLineBytesMax bounds the line scan looks for; INFO is the longest.
const controlLineBytesMax = 32 << 10

// scan reads the first frame of b and returns it with its length in bytes. A
// length of 0 without an error means that b ends within the frame.
func scan(b []byte) (frame, int, error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		if len(b) > controlLineBytesMax {
			return frame{}, 0, fmt.Errorf("%w: line without an end", errFrame)
		}
		return frame{}, 0, nil
	}
	if end == 0 || b[end-1] != '\r' {
		return frame{}, 0, fmt.Errorf("%w: %q", errFrame, clip(b[:end+1]))
	}
	line, length := b[:end-1], end+1
	switch {
	case bytes.HasPrefix(line, []byte("MSG ")):
		return scanMsg(b, line, length)
	case bytes.Equal(line, []byte("PING")):
		return frame{op: opPing}, length, nil
	case bytes.Equal(line, []byte("PONG")):
		return frame{op: opPong}, length, nil
	case bytes.Equal(line, []byte("+OK")):
		return frame{op: opOK}, length, nil
	case bytes.HasPrefix(line, []byte("INFO ")):
		return frame{op: opInfo, payload: line[5:]}, length, nil
	case bytes.HasPrefix(line, []byte("-ERR")):
		return frame{op: opErr, payload: line}, length, nil
	}
	return frame{}, 0, fmt.Errorf("%w: %q", errFrame, clip(line))
}

// scanMsg finishes a MSG whose control line, without its end, is line and takes
// length bytes of b with it.
func scanMsg(b, line []byte, length int) (frame, int, error) {
	fields := [5][]byte{}
	count := 0
	for rest := line; len(rest) > 0; {
		if count == len(fields) {
			return frame{}, 0, fmt.Errorf("%w: %q", errFrame, clip(line))
		}
		fields[count], rest, _ = bytes.Cut(rest, []byte(" "))
		count++
	}
	if count < 4 {
		return frame{}, 0, fmt.Errorf("%w: %q", errFrame, clip(line))
	}
	size, ok := decimal(fields[count-1])
	if !ok {
		return frame{}, 0, fmt.Errorf("%w: %q", errFrame, clip(line))
	}
	total := length + size + 2
	if len(b) < total {
		return frame{}, 0, nil
	}
	if b[total-2] != '\r' || b[total-1] != '\n' {
		return frame{}, 0, fmt.Errorf("%w: payload not followed by CR LF", errFrame)
	}
	f := frame{op: opMsg, subject: fields[1], sid: fields[2], payload: b[length : total-2]}
	if count == 5 {
		f.reply = fields[3]
	}
	return f, total, nil
}

// decimal reads an unsigned number of at most nine digits.
func decimal(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// clip shortens what goes into an error message.
func clip(b []byte) []byte {
	if len(b) > 80 {
		return b[:80]
	}
	return b
}
