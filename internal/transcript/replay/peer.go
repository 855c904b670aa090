package main

import (
	"errors"
	"net"
	"os"
	"time"
)

const (
	receivePatience = 3 * time.Second        // for what is expected to come
	silence         = 80 * time.Millisecond  // after which nothing more is taken to come
	recordSilence   = 350 * time.Millisecond // the same where nobody knows yet what comes
	wideWindow      = 1 << 20
	byteGap         = 200 * time.Microsecond // for the server to read a single byte as such, most of the time
)

// peer is one client's socket. Nothing is read before a step asks for it.
type peer struct {
	conn    *net.TCPConn
	silence time.Duration
	narrow  bool // the receive window was made small
	buffer  [64 << 10]byte
}

// must reports failures of the client's own socket options, which a transcript cannot expect.
func (p *peer) must(err error) {
	if err != nil {
		panic(err)
	}
}

// Send implements transcript.Peer. An error means that the server has closed: the next expectation sees it.
func (p *peer) Send(data []byte) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(receivePatience)) // fails on a closed socket only
	_, _ = p.conn.Write(data)
	if len(data) == 1 {
		time.Sleep(byteGap)
	}
}

// Receive implements transcript.Peer. A reset counts as an end: whether a close becomes one depends on what was unread.
func (p *peer) Receive(patient bool) ([]byte, bool) {
	if p.narrow {
		// What counts is that nothing was read before. A small window makes reading itself take minutes.
		p.must(p.conn.SetReadBuffer(wideWindow))
		p.narrow = false
	}
	wait := p.silence
	if patient {
		wait = receivePatience
	}
	if err := p.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, true
	}
	n, err := p.conn.Read(p.buffer[:])
	if err != nil {
		return nil, !errors.Is(err, os.ErrDeadlineExceeded)
	}
	return append([]byte(nil), p.buffer[:n]...), false
}

// CloseWrite implements transcript.Peer.
func (p *peer) CloseWrite() { _ = p.conn.CloseWrite() } // fails if the server was first

// Close implements transcript.Peer.
func (p *peer) Close() { _ = p.conn.Close() } // fails if a step closed it before
