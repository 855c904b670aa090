package main

import (
	"bytes"
	"fmt"
	"strconv"
)

// stampBytes is the length of the stamp each payload begins with: two digits
// for the publisher and six for the message's index in the publisher's blocks.
const stampBytes = 8

// blockPlan says what a publisher's blocks contain.
type blockPlan struct {
	publisher    int                    // 0 to 99, part of the stamp
	subject      func(index int) string // of message index; all of one length
	payloadBytes int                    // at least stampBytes
	blockBytes   int                    // a block is the largest whole number of messages within this
	blocks       int                    // how many different blocks there are
	ping         bool                   // each block ends with a PING
}

// build returns the blocks and how many messages each of them holds.
func (p blockPlan) build() (blocks [][]byte, messages int) {
	one := len(p.message(nil, 0))
	messages = max(1, p.blockBytes/one)
	for i := range p.blocks {
		block := make([]byte, 0, messages*one+len("PING\r\n"))
		for j := range messages {
			block = p.message(block, i*messages+j)
		}
		if p.ping {
			block = append(block, "PING\r\n"...)
		}
		blocks = append(blocks, block)
	}
	return blocks, messages
}

// message appends the PUB of one message to dst.
func (p blockPlan) message(dst []byte, index int) []byte {
	dst = append(dst, "PUB "...)
	dst = append(dst, p.subject(index)...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(p.payloadBytes), 10)
	dst = append(dst, "\r\n"...)
	dst = appendPayload(dst, p.publisher, index, p.payloadBytes)
	return append(dst, "\r\n"...)
}

// appendPayload appends a stamped payload of the given size.
func appendPayload(dst []byte, publisher, index, size int) []byte {
	dst = fmt.Appendf(dst, "%02d%06d", publisher, index)
	return append(dst, bytes.Repeat([]byte{'x'}, size-stampBytes)...)
}

// readStamp returns what the stamp of a payload says, and whether the payload
// has the size and the filling it was published with.
func readStamp(payload []byte, size int) (publisher, index int, ok bool) {
	if len(payload) != size || size < stampBytes {
		return 0, 0, false
	}
	publisher, okPublisher := decimal(payload[:2])
	index, okIndex := decimal(payload[2:stampBytes])
	for _, c := range payload[stampBytes:] {
		if c != 'x' {
			return 0, 0, false
		}
	}
	return publisher, index, okPublisher && okIndex
}

// deliveredBytes is the length of a MSG without a reply on the wire.
func deliveredBytes(subject, sid string, payloadBytes int) int {
	return len("MSG   \r\n\r\n") + len(subject) + len(sid) + len(strconv.Itoa(payloadBytes)) + payloadBytes
}
