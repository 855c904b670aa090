package netsim

import (
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

const unbuilt = "netsim: not built yet"

// Net is one world of hosts and the connections between them.
type Net struct{}

// New makes an empty Net.
func New(queue *schedule.Queue, source *decision.Source, config Config) *Net { panic(unbuilt) }

// AddHost makes the machine with that index (0 to 2^17-1), which keys its choices and gives its address. It panics if
// there is one already.
func (n *Net) AddHost(index int, sink Sink) *Host { panic(unbuilt) }

// Host is the machine with that index, nil if there is none.
func (n *Net) Host(index int) *Host { panic(unbuilt) }

// Counters returns what happened so far.
func (n *Net) Counters() Counters { panic(unbuilt) }

// Residue returns what is still held.
func (n *Net) Residue() Residue { panic(unbuilt) }

// SetLink sets the properties of the direction from→to.
func (n *Net) SetLink(from, to *Host, p LinkProps) { panic(unbuilt) }

// Partition cuts both directions between a and b. Streams keep their bytes and move on after Heal.
func (n *Net) Partition(a, b *Host) { panic(unbuilt) }

// PartitionOneWay cuts the direction from→to.
func (n *Net) PartitionOneWay(from, to *Host) { panic(unbuilt) }

// Heal ends the partition between a and b, in both directions.
func (n *Net) Heal(a, b *Host) { panic(unbuilt) }

// Calm ends everything that is wrong but can be undone: partitions, link properties, stalls, suspensions; and turns the
// rates of the config to zero. Hosts without power stay so, and connections that vanished stay vanished.
func (n *Net) Calm() { panic(unbuilt) }

// Host is a machine with an address. As engine.Network it serves the connections bound to ConnIDs.
type Host struct{}

var _ engine.Network = (*Host)(nil)

// Index is the index given to AddHost.
func (h *Host) Index() int { panic(unbuilt) }

// IP is the host's address.
func (h *Host) IP() string { panic(unbuilt) }

// SetSink replaces the sink: for a process that starts anew.
func (h *Host) SetSink(s Sink) { panic(unbuilt) }

// Dial connects to addr ("ip:port"). Connected or DialFailed follows.
func (h *Host) Dial(addr string) *Conn { panic(unbuilt) }

// Conn is the connection bound to id, nil if there is none (any more).
func (h *Host) Conn(id engine.ConnID) *Conn { panic(unbuilt) }

// Listen implements engine.Network. The host part may be empty, 0.0.0.0, ::, the host's own address, or
// 127.0.0.1, ::1 or localhost, which only the host itself can dial.
func (h *Host) Listen(l engine.ListenerID, addr string) { panic(unbuilt) }

// StopListening implements engine.Network.
func (h *Host) StopListening(l engine.ListenerID) { panic(unbuilt) }

// Send implements engine.Network.
func (h *Host) Send(c engine.ConnID, bufs [][]byte) int { panic(unbuilt) }

// PauseReading implements engine.Network.
func (h *Host) PauseReading(c engine.ConnID) { panic(unbuilt) }

// ResumeReading implements engine.Network.
func (h *Host) ResumeReading(c engine.ConnID) { panic(unbuilt) }

// CloseWrite implements engine.Network.
func (h *Host) CloseWrite(c engine.ConnID) { panic(unbuilt) }

// Close implements engine.Network.
func (h *Host) Close(c engine.ConnID) { panic(unbuilt) }

// Kill ends the process on the host: its listeners and connections are closed by its kernel, its sink hears nothing
// more of them. The host can listen and dial again at once.
func (h *Host) Kill() { panic(unbuilt) }

// PowerOff silences the host and forgets all it had, without a word to anyone.
func (h *Host) PowerOff() { panic(unbuilt) }

// PowerOn brings a host back that PowerOff silenced. Peers that still believe in a connection are reset when they next
// send something.
func (h *Host) PowerOn() { panic(unbuilt) }

// Suspend stops the whole machine, its kernel too, until Resume. (A stopped process alone is an owner that does not
// read: nothing to call here.)
func (h *Host) Suspend() { panic(unbuilt) }

// Resume undoes Suspend.
func (h *Host) Resume() { panic(unbuilt) }

// Conn is one end of a connection.
type Conn struct {
	// Tag is the owner's, for whatever it wants to find again.
	Tag uint64
}

// Host is the machine the end is at.
func (c *Conn) Host() *Host { panic(unbuilt) }

// Key identifies the end, equally in all runs in which its dialling host made as many dials before: the dialling host,
// which dial, and the side. It is the actor index of the choices about what this end sends.
func (c *Conn) Key() uint64 { panic(unbuilt) }

// Bind names the connection for the host's engine.Network methods, until it is closed.
func (c *Conn) Bind(id engine.ConnID) { panic(unbuilt) }

// ID is the name given by Bind, zero before.
func (c *Conn) ID() engine.ConnID { panic(unbuilt) }

// Open reports whether the end is connected and neither closed nor broken.
func (c *Conn) Open() bool { panic(unbuilt) }

// Send takes bytes from the buffers, in order, as many as the send buffer has room for, and returns how many.
// If fewer than all, Writable follows. The buffers are borrowed until it returns.
func (c *Conn) Send(bufs [][]byte) int { panic(unbuilt) }

// Read copies received bytes to buf. eof says that all bytes of the peer have been read and no more will come. Readable
// is told again after a Read with n < len(buf); after one with n == len(buf) there may be more.
func (c *Conn) Read(buf []byte) (n int, eof bool) { panic(unbuilt) }

// Unread counts the bytes that Read can give now.
func (c *Conn) Unread() int { panic(unbuilt) }

// Pause stops Readable until Unpause. A reader that has been told already checks Paused before it reads.
func (c *Conn) Pause() { panic(unbuilt) }

// Unpause undoes Pause. Readable follows if there is something to read.
func (c *Conn) Unpause() { panic(unbuilt) }

// Paused reports whether Pause holds.
func (c *Conn) Paused() bool { panic(unbuilt) }

// CloseWrite ends the sending direction after what Send took.
func (c *Conn) CloseWrite() { panic(unbuilt) }

// Close gives up the connection, or the dial. What Send took may still arrive. Nothing more is heard of it.
func (c *Conn) Close() { panic(unbuilt) }

// Abort resets the connection: what is not read at the peer is lost. Nothing more is heard of it at this end.
func (c *Conn) Abort() { panic(unbuilt) }

// Vanish makes the connection a void: whatever either end sends from here on is lost, and neither learns of it but by
// a timeout.
func (c *Conn) Vanish() { panic(unbuilt) }
