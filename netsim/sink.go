package netsim

import (
	"errors"

	"github.com/natsd/natsd/engine"
)

// Why a listener, a dial or a connection failed.
var (
	ErrReset     = errors.New("connection reset by peer")
	ErrTimeout   = errors.New("connection timed out")
	ErrRefused   = errors.New("connection refused")
	ErrAddrInUse = errors.New("address already in use")
	ErrAddr      = errors.New("cannot assign requested address")
)

// Sink is told what happens at one host. The calls come from the event queue, never from inside a method of this
// package, so a sink may call anything in return. A killed host's sink hears nothing until the host listens or dials
// again.
type Sink interface {
	// ListenerUp answers Listen: addr is the address with the port in use.
	ListenerUp(l engine.ListenerID, addr string, port int)
	// ListenerFailed answers Listen with ErrAddrInUse or ErrAddr.
	ListenerFailed(l engine.ListenerID, err error)
	// Accepted hands over a new connection, that came through listener l. The sink binds it (Conn.Bind) once the engine
	// has named it.
	Accepted(c *Conn, l engine.ListenerID, info engine.ConnInfo)
	// Connected answers Dial.
	Connected(c *Conn)
	// DialFailed answers Dial with ErrRefused or ErrTimeout. Nothing more is heard of c.
	DialFailed(c *Conn, err error)
	// Readable says that bytes or the end of the stream can be read. It is told once, and again only after a Read that
	// did not fill its buffer; not while c is paused.
	Readable(c *Conn)
	// Writable follows once after one or more Sends that took less than they were given, when more can be taken.
	Writable(c *Conn)
	// Closed says that c broke: ErrReset or ErrTimeout. What was not read is lost. Nothing more is heard of c, and
	// Close need not be called.
	Closed(c *Conn, err error)
}
