package sim

import (
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
)

// A turn is short, whatever waits: what the engine delivers in one, bytes counted, is bounded by TurnWork, and so is what
// it hands to the network at its end; what it hands over at a time is bounded too. Otherwise one large message to many, or one
// receiver that goes on after a long time, would hold up everybody.

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
	ending   bool   // the engine is inside EndTurn
	written  int    // bytes that the network took in it
	largest  [2]int // of the writes there, the two that were most
	last     engine.ConnID
	lastGot  int // bytes that the last one written to took there
	outMsgs  uint64
	outBytes uint64
	told     uint64 // the turn in which the engine said so; 0: none yet
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

// judgeWork takes the answer. A message costs one unit and one more for every workBytes that are full, so all of them cost as
// much as their number and as their bytes at least.
func (n *node) judgeWork(v *monitor.Varz) {
	t := &n.turnWatch
	turns := int(n.turns - t.told)
	messages, bytes := int(v.OutMsgs-t.outMsgs), int(v.OutBytes-t.outBytes)
	known := t.told > 0
	t.outMsgs, t.outBytes, t.told = v.OutMsgs, v.OutBytes, n.turns
	if work := max(messages, bytes/workBytes); known && work > turns*n.mostWork() {
		n.w.fail(propTurn, strconv.Itoa(messages)+" messages of "+strconv.Itoa(bytes)+" bytes in all were delivered in "+
			strconv.Itoa(turns)+" turns, turn_work is "+strconv.Itoa(n.w.cfg.engine.TurnWork))
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
		return
	}
	if id != t.last {
		t.last, t.lastGot = id, 0
	}
	t.lastGot += taken
	t.written += taken
	if taken > t.largest[0] {
		t.largest[0], t.largest[1] = taken, t.largest[0]
	} else {
		t.largest[1] = max(t.largest[1], taken)
	}
}

// judgeSend is told of what the network is offered at a time. At the end of a turn a connection gets nothing more once it got
// as much as all those in its list may.
func (n *node) judgeSend(id engine.ConnID, offered int) {
	t := &n.turnWatch
	most := writeBytes * n.w.cfg.engine.TurnWork
	if piece := min(max(most, sendLeast), sendBytes); offered > piece {
		n.w.fail(propTurn, strconv.Itoa(offered)+" bytes were handed over at a time, at most "+strconv.Itoa(piece)+" may be")
	}
	if t.ending && id == t.last && t.lastGot >= most {
		n.w.fail(propTurn, "a connection is written to that got "+strconv.Itoa(t.lastGot)+" bytes at the end of the turn, "+
			strconv.Itoa(most)+" are enough for all")
	}
}

// endTurn ends the engine's turn.
func (n *node) endTurn() {
	n.askWork()
	t := &n.turnWatch
	t.ending, t.written, t.largest, t.last = true, 0, [2]int{}, 0
	n.eng.EndTurn()
	t.ending = false
	n.crowds.endTurn()
	// Either list of connections may exceed its bytes by its last write.
	most := 2 * writeBytes * n.w.cfg.engine.TurnWork
	if written := t.written - t.largest[0] - t.largest[1]; written > most {
		n.w.fail(propTurn, strconv.Itoa(written)+" bytes were written at the end of a turn beside two connections, at most "+
			strconv.Itoa(most)+" may be")
	}
}
