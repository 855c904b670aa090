//go:build linux

package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// publisher writes its blocks over and over.
type publisher struct {
	conn     *conn
	group    *group
	blocks   [][]byte
	messages int // in each block

	block  int   // index of the block being written
	offset int   // bytes of it written
	full   bool  // the socket takes no more until epoll says so
	sent   int64 // messages of all blocks begun
	limit  int64 // no block is begun once sent has reached it
	acked  int64 // messages covered by a PONG
}

// write hands the socket the rest of the current block, or the next one when
// the window has room for it, and says whether it wrote anything.
func (p *publisher) write() (bool, error) {
	if p.full {
		return false, nil
	}
	begins := p.offset == 0
	if begins && (p.sent >= p.limit || !p.group.room(p)) {
		return false, nil
	}
	rest := p.blocks[p.block][p.offset:]
	n, errno := p.conn.send(rest)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		p.full = errno == unix.EAGAIN
		return false, nil
	}
	if errno != 0 {
		return false, fmt.Errorf("publisher: write: %w", errno)
	}
	if begins {
		p.sent += int64(p.messages)
		p.group.sent += int64(p.messages)
	}
	// A short write means a full socket just as EAGAIN does, and the kernel
	// reports the next free space for both.
	p.full = n < len(rest)
	p.offset += n
	if p.offset == len(p.blocks[p.block]) {
		p.offset = 0
		p.block = (p.block + 1) % len(p.blocks)
	}
	return true, nil
}

// read takes what the server has to say to a publisher: PONG, PING or an error.
func (p *publisher) read() error {
	for {
		n, err := p.conn.read()
		if err != nil {
			return fmt.Errorf("publisher: %w", err)
		}
		if n == 0 {
			return nil
		}
		for {
			f, ok, err := p.conn.scanned()
			if err != nil {
				return fmt.Errorf("publisher: %w", err)
			}
			if !ok {
				break
			}
			if f.op == opPong {
				p.acked += int64(p.messages)
			}
		}
	}
}
