package sim

import (
	"strconv"

	"github.com/natsd/natsd/monitor"
)

// A turn is short, whatever waits: what the engine delivers in one, bytes counted, is bounded by TurnWork, and so is what
// it hands to the network at its end. Otherwise one large message to many would hold up everybody.

// propTurn is the name of the property.
const propTurn = "turn"

// workBytes: so many bytes count as much as a message. writeBytes: so many bytes may be written at a turn's end, for each
// unit of TurnWork, to those who wait for an answer, and as many to others.
const (
	workBytes  = 256
	writeBytes = 256
)

// turnWatch follows the turns of a process.
type turnWatch struct {
	ending   bool   // the engine is inside EndTurn
	written  int    // bytes that the network took in it
	largest  [2]int // of the writes there, the two that were most
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
func (t *turnWatch) wrote(taken int) {
	if !t.ending {
		return
	}
	t.written += taken
	if taken > t.largest[0] {
		t.largest[0], t.largest[1] = taken, t.largest[0]
	} else {
		t.largest[1] = max(t.largest[1], taken)
	}
}

// endTurn ends the engine's turn.
func (n *node) endTurn() {
	n.askWork()
	t := &n.turnWatch
	t.ending, t.written, t.largest = true, 0, [2]int{}
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
