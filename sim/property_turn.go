package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
)

// A turn is short, whatever waits: what the engine delivers in one, bytes counted, is bounded by TurnWork, and so is what
// it hands to the network before its end and at it; what it hands over at a time is bounded too. Otherwise one large message to
// many, or one receiver that goes on after a long time, would hold up everybody.

// propTurn is the name of the property.
const propTurn = "turn"

// workBytes: so many bytes count as much as a message. writeBytes: so many bytes may be written at a turn's end, for each
// unit of TurnWork, to those who wait for an answer, and as many to others.
// sendBytes may be handed over at a time; fewer where a turn may write less, but sendLeast always.
const (
	workBytes  = 256
	writeBytes = 256
	sendBytes  = 256 << 10
	sendLeast  = 16 << 10
)

// turnWatch follows the turns of a process.
type turnWatch struct {
	ending   bool // the engine is inside EndTurn
	early    writes
	end      writes // in EndTurn
	last     engine.ConnID
	lastGot  int    // bytes that the last one written to took there
	flushed  uint32 // how often it had written early, before EndTurn
	roomMade uint32 // how often room had been made early, before the turn
	outMsgs  uint64
	outBytes uint64
	told     uint64 // the turn in which the engine said so; 0: none yet
	claim    *work  // that it has made and nobody has judged
}

// work is what was delivered in some turns.
type work struct{ messages, bytes, turns int }

// writes are some of those that the network was given.
type writes struct {
	bytes   int    // taken
	largest [3]int // of each, those that were most
}

func (w *writes) add(taken int) {
	w.bytes += taken
	for i, n := range w.largest {
		if taken > n {
			w.largest[i], taken = taken, n
		}
	}
}

func (w *writes) merge(other *writes) {
	rest := other.but(len(other.largest))
	for _, taken := range other.largest {
		w.add(taken)
	}
	w.bytes += rest
}

// but is what was written without the n largest writes.
func (w *writes) but(n int) int {
	left := w.bytes
	for _, taken := range w.largest[:n] {
		left -= taken
	}
	return left
}

// watchedBelow is the TurnWork below which an operator asks in every turn: above, hardly any run fills a turn.
const watchedBelow = 1000

// askWork lets an operator ask what was delivered, in the turn that ends.
func (n *node) askWork() {
	if n.w.cfg.engine.TurnWork >= watchedBelow || n.waiting > 0 {
		return
	}
	n.eng.Ask(n.inquire(askWork), monitor.VarzOptions{})
}

// workTold takes the answer.
func (n *node) workTold(v *monitor.Varz) {
	t := &n.turnWatch
	if t.told > 0 {
		t.claim = &work{int(v.OutMsgs - t.outMsgs), int(v.OutBytes - t.outBytes), int(n.turns - t.told)}
	}
	t.outMsgs, t.outBytes, t.told = v.OutMsgs, v.OutBytes, n.turns
}

// judgeWork judges it at the end of the turn: how large messages of the server's own are is known when they are sent. A message
// costs one unit and one more for every workBytes that are full, so all of them cost as much as their number and as their bytes
// at least.
func (n *node) judgeWork() {
	c := n.turnWatch.claim
	if n.turnWatch.claim = nil; c != nil && max(c.messages, c.bytes/workBytes) > c.turns*n.mostWork() {
		n.w.fail(propTurn, strconv.Itoa(c.messages)+" messages of "+strconv.Itoa(c.bytes)+" bytes in all were delivered in "+
			strconv.Itoa(c.turns)+" turns, turn_work is "+strconv.Itoa(n.w.cfg.engine.TurnWork))
	}
}

// mostWork is how much may be delivered in a turn. Messages are not parted: what goes on from earlier turns, what was held
// back and what is new may each exceed its share by one.
func (n *node) mostWork() int {
	return n.w.cfg.engine.TurnWork + 4*(2+(n.w.largest+messageOverhead)/workBytes) + 16
}

// wrote is told of what the network takes.
func (t *turnWatch) wrote(id engine.ConnID, taken int) {
	if !t.ending {
		t.early.add(taken)
		return
	}
	if id != t.last {
		t.last, t.lastGot = id, 0
	}
	t.lastGot += taken
	t.end.add(taken)
}

// mostAtEnd is how much a list of connections may be given at a turn's end, but for the last write.
func (n *node) mostAtEnd() int { return writeBytes * n.w.cfg.engine.TurnWork }

// mostEarly is how much a turn may write early, but for the last write: as much as to a list; messages that are larger than that,
// of which a turn delivers four at most (mostWork); and what makes room for messages, which is work like those.
func (n *node) mostEarly() int {
	most := n.mostAtEnd()
	if large := n.w.largest + messageOverhead; large > most {
		most += 4 * large
	}
	if n.eng.Marks()[engine.MarkRoomMade] != n.turnWatch.roomMade {
		most += workBytes*n.mostWork() + 4*sendLeast
	}
	return most
}

// flushedAtEnd reports that EndTurn has written early, for it delivers what was left over.
func (n *node) flushedAtEnd() bool {
	return n.eng.Marks()[engine.MarkEarlyFlush] != n.turnWatch.flushed
}

// judgeSend is told of what the network is offered at a time. At the end of a turn a connection gets nothing more once it got
// as much as all those in its list may, beside what it got early.
func (n *node) judgeSend(id engine.ConnID, offered int) {
	t := &n.turnWatch
	most := n.mostAtEnd()
	piece := min(max(most, sendLeast), sendBytes)
	if offered > piece {
		n.w.fail(propTurn, strconv.Itoa(offered)+" bytes were handed over at a time, at most "+strconv.Itoa(piece)+" may be")
	}
	if !t.ending || id != t.last || t.lastGot < most {
		return
	}
	if n.flushedAtEnd() {
		most += n.mostEarly() + piece
	}
	if t.lastGot >= most {
		n.w.fail(propTurn, "a connection is written to that got "+strconv.Itoa(t.lastGot)+" bytes at the end of the turn, "+
			strconv.Itoa(most)+" are enough for all")
	}
}

// endTurn ends the engine's turn.
func (n *node) endTurn() {
	n.askWork()
	t := &n.turnWatch
	n.judgeWrites(&t.early, 1, n.mostEarly(), "before the end of a turn")
	t.ending, t.last, t.flushed = true, 0, n.eng.Marks()[engine.MarkEarlyFlush]
	n.eng.EndTurn()
	t.ending = false
	n.judgeWork()
	n.crowds.endTurn()
	if n.flushedAtEnd() { // which of the writes there were early, nobody knows
		t.end.merge(&t.early)
		n.judgeWrites(&t.end, 3, n.mostEarly()+2*n.mostAtEnd(), "in a turn")
	} else {
		n.judgeWrites(&t.end, 2, 2*n.mostAtEnd(), "at the end of a turn")
	}
	t.early, t.end, t.roomMade = writes{}, writes{}, n.eng.Marks()[engine.MarkRoomMade]
}

// judgeWrites says how much may be written. Each of the parts may exceed what it may by its last write.
func (n *node) judgeWrites(w *writes, parts, most int, when string) {
	if written := w.but(parts); written > most {
		n.w.fail(propTurn, strconv.Itoa(written)+" bytes were written "+when+" beside the "+strconv.Itoa(parts)+
			" largest writes, at most "+strconv.Itoa(most)+" may be")
	}
}
