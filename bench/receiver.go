//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// receiverMode is what a receiver does with the bytes it gets.
type receiverMode int

const (
	modeVerify receiverMode = iota // read, scan and compare each message
	modeCount                      // drop them in the kernel and count, in large portions
	modeDrain                      // the same, down to the last byte
	modeTail                       // count, and look for the PONG that ends the run
)

// receiver is a subscriber's connection.
type receiver struct {
	conn         *conn
	messageBytes int // of each MSG on the wire
	payloadBytes int
	mode         receiverMode

	// wakeBytes is how much must have arrived in modeCount before the receiver
	// is told, unless the socket is full. A wake-up costs the server about as
	// much as sending a hundred small messages; one for every flush would
	// make the figures those of the scheduler.
	wakeBytes int

	bytes    int64       // received after modeVerify
	verified int64       // messages compared in modeVerify
	last     map[int]int // index of the last message verified, by publisher
}

// dropBytes is how much one call may drop; it bounds the time until the
// publishers get their next turn.
const dropBytes = 512 << 10

// enter changes the mode. What has arrived and is below the old threshold is
// reported at once when the new one is lower.
func (r *receiver) enter(mode receiverMode) error {
	r.mode = mode
	threshold := 1
	if mode == modeCount {
		threshold = r.wakeBytes
	}
	if err := unix.SetsockoptInt(r.conn.fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, threshold); err != nil {
		return fmt.Errorf("receive threshold: %w", err)
	}
	return nil
}

// received is the number of messages so far.
func (r *receiver) received() int64 {
	return r.verified + r.bytes/int64(r.messageBytes)
}

// read takes what has arrived. Ended is true once, when the PONG is seen that
// modeTail waits for.
func (r *receiver) read() (ended bool, err error) {
	switch r.mode {
	case modeCount, modeDrain:
		err = r.drop()
	case modeVerify:
		err = r.verify()
	case modeTail:
		ended, err = r.tail()
	}
	if err != nil {
		return false, fmt.Errorf("subscriber after %d messages: %w", r.received(), err)
	}
	return ended, nil
}

// drop counts what has arrived without looking at it.
func (r *receiver) drop() error {
	n, errno := r.conn.drop()
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return nil
	case errno != 0:
		return fmt.Errorf("read: %w", errno)
	case n == 0:
		return fmt.Errorf("the server closed the connection: %w", io.EOF)
	}
	r.bytes += int64(n)
	return nil
}

// verify reads messages and compares them with what was published: size,
// filling, and the order for each publisher.
func (r *receiver) verify() error {
	n, err := r.conn.read()
	if err != nil || n == 0 {
		return err
	}
	for {
		before := r.conn.done
		f, ok, err := r.conn.scanned()
		if err != nil || !ok {
			return err
		}
		if f.op != opMsg {
			continue
		}
		// A PING before the message makes the difference larger, never
		// smaller, so that only the message itself is measured here.
		size := deliveredBytes(string(f.subject), string(f.sid), len(f.payload))
		if size != r.messageBytes || r.conn.done-before < size {
			return fmt.Errorf("%w: message of %d bytes, expected %d", errFrame, size, r.messageBytes)
		}
		publisher, index, ok := readStamp(f.payload, r.payloadBytes)
		if !ok {
			return fmt.Errorf("%w: payload %q", errFrame, clip(f.payload))
		}
		if last, seen := r.last[publisher]; seen && index <= last {
			return fmt.Errorf("message %d of publisher %d after message %d", index, publisher, last)
		}
		r.last[publisher] = index
		r.verified++
	}
}

// tail counts what arrives and reports the PONG at its end.
func (r *receiver) tail() (bool, error) {
	n, err := r.conn.read()
	if err != nil || n == 0 {
		return false, err
	}
	r.bytes += int64(n)
	ended := bytes.HasSuffix(r.conn.in, []byte("PONG\r\n"))
	// Keep enough for a PONG that arrives in parts.
	r.conn.done = max(0, len(r.conn.in)-len("PONG\r\n")+1)
	return ended, nil
}

// controlsMax bounds the PINGs a server can have sent a receiver in a run.
const controlsMax = 8

// excess checks what a finished receiver got besides whole messages: its PONG
// and perhaps a few PINGs, which have the same length. It returns the number of
// whole messages counted.
func (r *receiver) excess() (int64, error) {
	rest := r.bytes % int64(r.messageBytes)
	if rest < 6 || rest%6 != 0 || rest > 6*(controlsMax+1) {
		return 0, fmt.Errorf("%w: %d bytes are not whole messages of %d and a PONG", errFrame, r.bytes, r.messageBytes)
	}
	return r.bytes / int64(r.messageBytes), nil
}
