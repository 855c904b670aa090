package netsim

import "github.com/natsd/natsd/sim/schedule"

// LinkProps are the properties of one direction between two hosts. All connections between them share the bandwidth.
type LinkProps struct {
	Latency   schedule.Time // of every segment
	Jitter    schedule.Time // at most this much more, chosen per segment (NetLatency); order is kept
	Bandwidth int64         // bytes per second; 0: no limit
}

// Config is what holds for a whole Net. The zero value is a perfect network.
type Config struct {
	Link       LinkProps // of every pair of hosts that SetLink did not set
	SendBuffer int       // bytes per connection end; 0: 64 KiB
	RecvBuffer int       // bytes per connection end; 0: 64 KiB

	// CutPerMillion is the chance that a segment is cut (NetSegment), at one of its first CutMax bytes (0: anywhere). What
	// follows a cut arrives at least CutGap later (0: 100 µs), so that a reader that is quick enough sees it.
	CutPerMillion uint32
	CutMax        int
	CutGap        schedule.Time

	// The faults of single connections. Each is chosen once per direction and second of a connection's life in which it
	// sends something, at that moment.
	StallPerMillion    uint32 // nothing arrives for a while (NetStall)
	StallMin, StallMax schedule.Time
	ResetPerMillion    uint32        // part of a segment arrives, then a reset, at one or both ends (NetReset)
	HalfOpenPerMillion uint32        // all that either end sends vanishes from here on (NetHalfOpen) …
	HalfOpenMax        schedule.Time // … and, in half of the cases, both ends are reset within this time; 0: never

	// The faults of dials, chosen once per dial.
	RefusePerMillion   uint32 // NetRefuse
	DialHangPerMillion uint32 // NetDialHang: no answer

	// RetransmitMax bounds how long after the end of a partition a stream that it stopped moves again; the delay is
	// chosen (NetRetransmit) up to that or the length of the partition, whichever is less.
	RetransmitMax schedule.Time

	DialTimeout schedule.Time // a dial without an answer fails with ErrTimeout; 0: never
	UserTimeout schedule.Time // a connection whose bytes are not acknowledged for so long breaks; 0: never
	KeepAlive   schedule.Time // a connection whose peer cannot be reached for so long breaks, even when idle; 0: never

	// HardClose makes Close behave as Linux does: with unread bytes, or when bytes arrive after it, the connection is
	// reset, and what the peer has not read by then is lost. Otherwise the peer reads all that was sent, then the end.
	HardClose bool

	// Ports is how many ephemeral ports a host has for its dials before it uses them again; 0: 28,232.
	Ports int
}

const (
	defaultBuffer = 64 << 10
	defaultCutGap = 100_000
	firstPort     = 32768
	defaultPorts  = 28232
)

func (c *Config) setDefaults() {
	if c.SendBuffer <= 0 {
		c.SendBuffer = defaultBuffer
	}
	if c.RecvBuffer <= 0 {
		c.RecvBuffer = defaultBuffer
	}
	if c.CutGap <= 0 {
		c.CutGap = defaultCutGap
	}
	if c.Ports <= 0 || c.Ports > defaultPorts {
		c.Ports = defaultPorts
	}
}

// Counters say what happened in a Net so far.
type Counters struct {
	Dials, Accepts           uint64
	Segments, Bytes          uint64 // that arrived
	Sent, Read               uint64 // bytes that Send took, that Read gave
	ShortSends, ZeroWindows  uint64 // Sends that took less than given; times a sender found the window closed
	Cuts, Stalls, Resets     uint64 // faults chosen by the config's rates
	HalfOpens                uint64
	Refusals, DialHangs      uint64
	Partitions, LinkChanges  uint64 // faults ordered through methods
	Kills, PowerOffs         uint64
	Suspensions, Vanished    uint64
	Retransmits              uint64 // streams set back by a partition or a silent host
	ResetsTold, TimeoutsTold uint64 // connection ends that broke
}

// Faults is how many faults there were, chosen or ordered; cuts, jitter and closed windows are none.
func (c *Counters) Faults() uint64 {
	return c.Stalls + c.Resets + c.HalfOpens + c.Refusals + c.DialHangs + c.Partitions + c.LinkChanges + c.Kills +
		c.PowerOffs + c.Suspensions + c.Vanished
}

// Residue is what a Net still holds. All but Listeners is zero once every connection is closed at both ends.
type Residue struct {
	Connections int // with an end that is not closed
	Dialling    int // of these, those that are not connected
	Buffers     int // in use
	Bytes       int // taken by Send, not yet read
	Bound       int // ConnIDs bound to connections
	Listeners   int
}
