package sim

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/schedule"
)

// EventKind says what was told to an engine, or what it asked.
type EventKind uint8

// Events are told to an engine, effects asked by it. Notes are neither: they tell what the world did, and do not enter
// the hash.
const (
	EventTurn EventKind = iota // a turn begins
	EventStart
	EventListenerUp
	EventListenerFailed
	EventAccepted
	EventReceived
	EventWritable
	EventEOF
	EventClosed
	EventTimerDue
	EventJobDone
	EventStop
	EventLameDuck
	EventQuery
	EventReload
	EffectWake
	EffectListen
	EffectStopListening
	EffectSend
	EffectPauseReading
	EffectResumeReading
	EffectCloseWrite
	EffectClose
	EffectSubmit
	EffectLog
	EffectAnswer
	EventVaultDone
	EffectVault
	EventGiveUp
	Note
	numEventKinds
)

var eventNames = [numEventKinds]string{
	EventTurn: "turn", EventStart: "start", EventListenerUp: "listener up", EventListenerFailed: "listener failed",
	EventAccepted: "accepted", EventReceived: "received", EventWritable: "writable", EventEOF: "eof", EventClosed: "closed",
	EventTimerDue: "timer due", EventJobDone: "job done", EventStop: "stop", EventLameDuck: "lame duck", EventQuery: "query", EventReload: "reload",
	EffectWake: "wake", EffectListen: "listen", EffectStopListening: "stop listening", EffectSend: "send",
	EffectPauseReading: "pause reading", EffectResumeReading: "resume reading", EffectCloseWrite: "close write",
	EffectClose: "close", EffectSubmit: "submit", EffectLog: "log", EffectAnswer: "answer",
	EventVaultDone: "vault done", EffectVault: "vault", EventGiveUp: "gives up what is spare", Note: "note",
}

// String is the kind in words.
func (k EventKind) String() string { return eventNames[k] }

// Event is one thing told to an engine or asked by it, or a note about the world.
type Event struct {
	At    time.Duration // simulated, since the beginning of the run
	Seq   uint64        // counts what entered the hash
	Node  int           // whose engine; of a note: -1 for the world
	Kind  EventKind
	Conn  engine.ConnID
	N     int64  // bytes taken by a send, the instant of a wake, the number of a job
	Bytes []byte // received, or taken by a send: borrowed until Observe returns
	Text  string
	Hash  uint64 // the trace hash after it
}

// trace folds all that engines are told and ask into one number. Equal numbers mean equal histories.
type trace struct {
	hash    uint64
	seq     uint64
	observe func(Event)
	queue   *schedule.Queue
}

// Odd constants with well mixed bits, as in decision.Source.
const (
	traceMul  = 0xe7037ed1a0b428db
	traceSeed = 0x8ebc6af09c88c6e3
)

func (t *trace) word(w uint64) {
	hi, lo := bits.Mul64(t.hash^w, traceMul)
	t.hash = hi ^ lo ^ bits.RotateLeft64(t.hash, 29)
}

func (t *trace) bytes(b []byte) {
	for len(b) >= 8 {
		t.word(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		t.word(binary.LittleEndian.Uint64(last[:]))
	}
}

func (t *trace) text(s string) {
	for len(s) >= 8 {
		t.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	w := uint64(len(s)) << 56
	for i := range len(s) {
		w |= uint64(s[i]) << (8 * i)
	}
	t.word(w)
}

// event folds one event or effect that carries no bytes.
func (t *trace) event(node int, kind EventKind, conn engine.ConnID, n int64) {
	t.enter(node, kind, conn, n)
	if t.observe != nil {
		t.show(Event{Node: node, Kind: kind, Conn: conn, N: n})
	}
}

// data folds one that carries bytes.
func (t *trace) data(node int, kind EventKind, conn engine.ConnID, b []byte) {
	t.enter(node, kind, conn, int64(len(b)))
	t.bytes(b)
	if t.observe != nil {
		t.show(Event{Node: node, Kind: kind, Conn: conn, N: int64(len(b)), Bytes: b})
	}
}

// said folds one that carries text.
func (t *trace) said(node int, kind EventKind, conn engine.ConnID, n int64, text string) {
	t.enter(node, kind, conn, n)
	t.text(text)
	if t.observe != nil {
		t.show(Event{Node: node, Kind: kind, Conn: conn, N: n, Text: text})
	}
}

// sent folds a Send: how much was offered, how much of it was taken, and what.
func (t *trace) sent(node int, conn engine.ConnID, bufs [][]byte, offered, taken int) {
	t.enter(node, EffectSend, conn, int64(taken))
	t.word(uint64(offered))
	left := taken
	for _, b := range bufs {
		b = b[:min(len(b), left)]
		t.bytes(b)
		if left -= len(b); left == 0 {
			break
		}
	}
	if t.observe == nil {
		return
	}
	var all []byte
	for _, b := range bufs {
		all = append(all, b...)
	}
	t.show(Event{Node: node, Kind: EffectSend, Conn: conn, N: int64(taken), Bytes: all[:taken]})
}

func (t *trace) enter(node int, kind EventKind, conn engine.ConnID, n int64) {
	t.seq++
	t.word(uint64(node)<<8 | uint64(kind))
	t.word(uint64(conn) ^ uint64(n)*traceSeed)
}

// note tells the observer what the world did.
func (t *trace) note(node int, text string) {
	if t.observe != nil {
		t.show(Event{Node: node, Kind: Note, Text: text})
	}
}

func (t *trace) show(e Event) {
	e.At, e.Seq, e.Hash = time.Duration(t.queue.Now()), t.seq, t.hash
	t.observe(e)
}
