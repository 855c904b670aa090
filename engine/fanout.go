package engine

import (
	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
	"github.com/natsd/natsd/wire"
)

// fanout is a message with more receivers than one turn serves. Its publisher's input waits meanwhile, so that what it
// sent later is not delivered earlier. It is finished even if the publisher goes away.
type fanout struct {
	msg  outgoing // owns its bytes; body lies in ck
	ck   *chunk
	to   *sublist.Result[*subscription]
	next int      // place in to, as fan counts
	acc  *account // in which it was published

	behalf *account // on which the server itself publishes it; nil: a client does

	subject, reply []byte
	published      []byte // the subject before mappings, of a message that waits to know whom it reaches
	granted        bool   // it is an answer that was allowed as one of so many
}

// suspendedMax bounds the bytes of messages that wait to be delivered further: publishers that go away leave theirs
// behind. While there are so many, a message is delivered in the turn in which it came, however long that takes.
const suspendedMax = 64 << 20

// fan delivers e.out from a place in r on, until the turn's work reaches limit: the plain subscriptions come first, then
// one member of each queue group. It returns the first place that was not served, or not to the end; r.Fanout() when all
// were.
func (e *Engine) fan(r *sublist.Result[*subscription], from, limit int) (next int) {
	if e.out.trace != nil {
		return e.fanTraced(r, from, limit)
	}
	i := from
	for ; i < len(r.Plain); i++ {
		if e.work >= limit && i > from {
			return i
		}
		if e.deliver(r.Plain[i]) {
			e.out.delivered = true
		} else {
			e.work++ // to be passed over costs too, and a client may have any number of those
		}
	}
	for ; i < r.Fanout(); i++ {
		if e.work >= limit && i > from {
			return i
		}
		delivered, done := e.deliverQueue(r.Queues[i-len(r.Plain)].Members, limit)
		if delivered {
			e.out.delivered = true
		}
		if !done {
			return i
		}
	}
	return i
}

// finish tells the publisher if nobody got e.out, and whoever wants to know what happened to it.
func (e *Engine) finish(subj, reply []byte) {
	if !e.out.delivered || e.out.trace != nil {
		e.finishTelling(subj, reply)
	}
}

func (e *Engine) finishTelling(subj, reply []byte) {
	if t := e.out.trace; t != nil {
		e.out.trace = nil
		e.tellTrace(t)
	}
	if !e.out.delivered {
		e.noResponders(e.out.from, subj, reply)
	}
}

// notYet is the place in e.unknown and e.sought.
const notYet = -1

// await has a message wait until all have followed what a reload changed: before, nobody knows whom it reaches; or until that has been
// found.
func (e *Engine) await(c *conn, a *wire.PubArgs, body []byte, ck *chunk, r *sublist.Result[*subscription], answer bool) {
	e.prepare(c, a, body, ck)
	if answer {
		e.answer(c.acc, a.Subject)
	}
	e.out.awaits = c.acc
	if r == e.sought && c != e.self {
		e.readLater(c)
	}
	e.suspend(r, notYet, a)
	e.out.ck, e.out.body, e.out.from = nil, nil, nil
}

// suspend puts e.out aside until the next turn, or until it is known whom it reaches.
func (e *Engine) suspend(r *sublist.Result[*subscription], next int, a *wire.PubArgs) {
	e.mark(MarkFanoutSliced)
	c := e.out.from
	f := e.spareFanout()
	f.to, f.next = r, next
	if f.acc = c.acc; c == e.self {
		f.behalf = e.speaksFor
	}
	f.subject, f.reply = append(f.subject[:0], a.Subject...), append(f.reply[:0], a.Reply...)
	e.out.headFor = nil         // shown lies in room that others use meanwhile
	e.out.lines = 0             // as does the line
	f.msg, e.out = e.out, f.msg // the scratch buffers stay with the suspended message
	if f.msg.crossed == 0 {
		f.msg.subject, f.msg.reply = f.subject, f.reply
		if !f.msg.otherHead {
			f.msg.shown = f.subject
		}
	}
	if f.ck = f.msg.ck; f.ck == nil {
		f.ck = e.pool.get(len(f.msg.body))
		f.msg.body = f.ck.data[:copy(f.ck.data, f.msg.body)]
	} else if f.msg.borrowed {
		f.ck.refs++
	}
	f.msg.borrowed = f.msg.ck != nil // f.ck has a reference of its own
	if next == notYet {
		if c != e.self && (!c.pedantic || subject.ValidLiteral(e.waits)) { // who was told is not told again
			f.published, f.granted = e.waits, e.granted
		}
		if e.putAside(f); c != e.self { // what else the server has to say may not concern those who are waited for
			c.gate |= gateFanout
		}
	} else {
		e.addFanout(f)
	}
	e.suspended += len(f.ck.data)
	e.asides++
}

// takeUp undoes what suspend counted.
func (e *Engine) takeUp(f *fanout) {
	e.suspended -= len(f.ck.data)
	e.asides--
	e.pool.release(f.ck)
}

// addFanout has a message go on, from the next turn on.
func (e *Engine) addFanout(f *fanout) {
	e.fanouts.push(f)
	if f.behalf != nil {
		e.posts.hold(f.behalf)
		return
	}
	f.msg.from.gate |= gateFanout
}

// putAside has a message wait until it can be known whom it reaches.
func (e *Engine) putAside(f *fanout) {
	if f.to == e.sought {
		e.searchFor(f)
		return
	}
	e.mark(MarkRecastAwaited)
	e.awaiting = append(e.awaiting, f)
}

// goOnWaiting has the messages that waited go on, or see that they have to wait for something else.
func (e *Engine) goOnWaiting() {
	for _, f := range e.awaiting {
		e.addFanout(f)
	}
	e.awaiting = nil
}

// letSpeak lets the publisher of a message that is not under way any more go on. The server may have several under way, on behalf of
// an account too.
func (e *Engine) letSpeak(f *fanout) {
	if f.behalf != nil {
		e.posts.free(f.behalf)
		return
	}
	e.open(f.msg.from, gateFanout)
}

// continueFanouts goes on with the messages that earlier turns did not finish, in their order, for half a turn's work.
func (e *Engine) continueFanouts() {
	limit := max(e.opts.TurnWork/2, 1)
	for !e.fanouts.empty() {
		f := e.fanouts.front()
		e.work++ // there may be thousands that reach nobody
		done := e.advance(f, limit)
		if !done && f.next != notYet {
			return
		}
		e.fanouts.pop()
		if done || f.behalf != nil {
			e.letSpeak(f)
		}
		if !done {
			e.putAside(f)
			continue
		}
		e.keepFanout(f)
		if e.work >= limit {
			return
		}
	}
}

// advance goes on with a message until the turn's work reaches limit. It reports whether it is done.
func (e *Engine) advance(f *fanout, limit int) bool {
	if f.behalf != nil {
		e.self.acc, e.speaksFor = f.acc, f.behalf // the server has spoken elsewhere since
	}
	spare := e.out
	e.out = f.msg
	f.to, f.next = e.serve(f.to, f.next, limit)
	if f.next < f.to.Fanout() {
		e.out.headFor, e.out.lines = nil, 0
		f.msg, e.out = e.out, spare
		return false
	}
	e.finish(f.subject, f.reply)
	e.letGo(&e.out)
	e.out.settled = false
	f.msg, e.out = e.out, spare
	e.takeUp(f)
	return true
}

// fanoutsKept is how many fanouts are kept for their buffers. A busy subject suspends one message in every turn.
const fanoutsKept = 8

func (e *Engine) spareFanout() *fanout {
	if n := len(e.oldFanouts); n > 0 {
		f := e.oldFanouts[n-1]
		e.oldFanouts = e.oldFanouts[:n-1]
		return f
	}
	return &fanout{}
}

func (e *Engine) keepFanout(f *fanout) {
	f.published, f.granted, f.msg.unread, f.msg.found = nil, false, false, nil
	f.to, f.acc, f.behalf, f.ck, f.msg.from, f.msg.body, f.msg.ck = nil, nil, nil, nil, nil, nil, nil
	f.msg.headFor, f.msg.subject, f.msg.reply, f.msg.shown, f.msg.lineChunk = nil, nil, nil, nil, nil
	if len(e.oldFanouts) < fanoutsKept {
		e.oldFanouts = append(e.oldFanouts, f)
	}
}
