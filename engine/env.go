package engine

// Instant is a point on the monotonic clock of one process, in nanoseconds from an arbitrary origin. It never goes back.
type Instant int64

// Never is the instant that does not come; Wake(Never) cancels the wake-up.
const Never Instant = 1<<63 - 1

// WallTime is nanoseconds since the Unix epoch, UTC. It may jump either way when an operator sets the clock.
type WallTime int64

// Clock tells time and wakes the engine. Time stands still inside a turn: the engine reads it once, in BeginTurn.
type Clock interface {
	// Now returns the monotonic instant and the wall time of one moment.
	Now() (Instant, WallTime)
	// Wake asks for a TimerDue event at or soon after at. There is one wake-up: a later call replaces it.
	Wake(at Instant)
}

// ConnID names one connection for as long as it exists. The low 32 bits are a dense slot that is used again, the high
// 32 bits a generation that differs each time it is, so an event that arrives late for a former connection is told
// apart. A generation is between 1 and 2³¹-1; zero names no connection.
type ConnID uint64

// Slot is the dense part of the id: small integers from 0, usable as an index.
func (c ConnID) Slot() uint32 { return uint32(c) }

// ListenerID names a listening address that the engine asked for.
type ListenerID uint32

// Network carries bytes. No call blocks; what takes time ends in an event. After Close(c) no event for c follows.
type Network interface {
	// Listen opens addr ("host:port", port 0 or -1: any free one). ListenerUp or ListenerFailed follows.
	Listen(l ListenerID, addr string)
	// StopListening closes the listener; connections accepted from it stay.
	StopListening(l ListenerID)
	// Send writes the buffers in order and returns how many bytes were taken. The buffers are borrowed until it
	// returns. If fewer than all were taken, one Writable event follows when more can be taken. A broken connection
	// takes nothing and is reported by a Closed event.
	Send(c ConnID, bufs [][]byte) int
	// PauseReading stops Received events for c (and the peer, once the buffers between are full) until ResumeReading.
	PauseReading(c ConnID)
	// ResumeReading undoes PauseReading.
	ResumeReading(c ConnID)
	// CloseWrite ends the sending direction after what Send took; the peer reads the end of the stream.
	CloseWrite(c ConnID)
	// Close gives up the connection in both directions. What Send took may still arrive.
	Close(c ConnID)
}

// JobID names a job that was submitted and is not done.
type JobID uint64

// Jobs runs CPU work too long for a turn. run must be a pure function of what it closes over and must share nothing
// with the engine until JobDone(id); its results are left where it closes over.
type Jobs interface {
	Submit(id JobID, run func())
}

// Rand is the engine's one source of entropy: server ids, nonces and the seeds of its own generators come from it.
type Rand interface {
	Uint64() uint64
}

// Level is the severity of a log line.
type Level uint8

// Levels, in the order of nats-server's tags FTL, ERR, WRN, INF, DBG, TRC.
const (
	LevelFatal Level = iota
	LevelError
	LevelWarn
	LevelInfo
	LevelDebug
	LevelTrace
	LevelDebugWished // as LevelDebug, but written whatever the options: an operator asked for lines of this connection, or account
	LevelTraceWished // as LevelTrace, likewise
)

// Log takes one line. subject names the connection the line is about in nats-server's form ("127.0.0.1:5 - cid:7"),
// empty for the server itself. Both strings may be kept.
type Log interface {
	Log(level Level, subject, text string)
}

// Env is the world of one engine. Every field from TLS on may be nil.
type Env struct {
	Clock   Clock
	Network Network
	Jobs    Jobs
	Rand    Rand
	Log     Log
	TLS     TLS     // required where Options.TLS is on
	Monitor Monitor // nil where nothing is queried
	Process Process // nil: nothing is known of it

	Operator  Operator  // nil: nothing can be read again
	Diagnosis Diagnosis // nil: nothing is known of the process's inside
	Disk      Disk      // nil where nothing is stored
	Web       Web       // required with a URL resolver
	Vault     Vault     // required with a resolver that has a directory
	Zones     Zones     // nil: there is no zone but UTC
}

// ConnInfo describes an accepted connection.
type ConnInfo struct {
	IP   string // the peer's address without the port, "127.0.0.1" or "::1"
	Port int    // the peer's port
}
