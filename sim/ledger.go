package sim

import (
	"github.com/natsd/natsd/sim/schedule"
	"github.com/natsd/natsd/wire"
)

// The answers of a server come in the order of what they answer: PONG for PING, +OK for everything else of a verbose
// client, -ERR with the right words for what is wrong. propReplies is the name of that property.
const propReplies = "replies"

// ledger holds what a client is still to be answered.
type ledger struct {
	items []due
	head  int
	pongs int  // of the items that are to come
	kept  bool // those from mark on stay, though they were answered
	mark  int
}

// due is one answer to come.
type due struct {
	kind   dueKind
	err    wire.Err // of -ERR; of a fatal one empty: the connection ends without a word
	at     schedule.Time
	n      uint64 // of a PONG: which of the connection's pings it answers
	behind int64  // of a PONG: bytes of its client that the server had not read when its PING was written
	sent   int    // of a PONG: publishes before this one were written before its PING
	mild   bool   // of a refusal: another configuration may allow it

	errs []wire.Err // words that may come instead of err
	more []wire.Err // and those of other configurations
}

type dueKind uint8

const (
	duePong   dueKind = iota
	dueOK             // +OK
	dueErr            // -ERR, and the connection stays
	dueMaybe          // +OK from a verbose connection, or -ERR; from one that is not, -ERR or nothing
	dueFatal          // -ERR, if there are words for it, then the end
	dueOption         // -ERR or nothing, then what follows
	dueSilent         // nothing, unless another configuration forbids it
)

func (l *ledger) add(d due) {
	if d.kind == duePong {
		l.pongs++
	}
	l.items = append(l.items, d)
}

func (l *ledger) pop() due {
	d := l.items[l.head]
	l.head++
	if d.kind == duePong {
		l.pongs--
	}
	l.tidy()
	return d
}

func (l *ledger) tidy() {
	if l.head == len(l.items) && !l.kept {
		l.items, l.head = l.items[:0], 0
	}
}

// keep has what is answered from now on stay, until release; to no effect before that.
func (l *ledger) keep() {
	if !l.kept {
		l.kept, l.mark = true, l.head
	}
}

func (l *ledger) release() {
	l.kept = false
	l.tidy()
}

// move takes all before that place for answered, and the others not: among those that were kept no PONG may be.
func (l *ledger) move(to int) {
	for i := l.head; i < to; i++ {
		if l.items[i].kind == duePong {
			l.pongs--
		}
	}
	l.head = to
}

// first is the place of the first item that may be unanswered.
func (l *ledger) first() int {
	if l.kept {
		return l.mark
	}
	return l.head
}

func (l *ledger) empty() bool { return l.head == len(l.items) }

// answer takes an answer that was read off the ledger. ok is false if it is not the one that is due.
func (l *ledger) answer(verb inboundVerb, text []byte, verbose bool) (d due, ok bool) {
	if verb == saidErr && !verbose && l.certain(text) {
		return due{kind: dueErr}, true
	}
	for i := l.head; i < len(l.items); i++ {
		front := &l.items[i]
		if front.fits(verb, text, verbose) {
			for l.head < i {
				l.pop() // it was answered by nothing
			}
			return l.pop(), true
		}
		if front.kind != dueOption && front.kind != dueSilent && (front.kind != dueMaybe || verbose) {
			return due{}, false
		}
	}
	return due{}, false
}

// certain takes the first -ERR with that text that is certain to come off the ledger, if nothing else is certain to come
// before it. One that may come and one that must look the same: they are told apart by their number. So if one that may come
// is before it, that is for answer to take, and the other one is not certain any more.
func (l *ledger) certain(text []byte) bool {
	before := false
	for i := l.head; i < len(l.items); i++ {
		switch d := &l.items[i]; d.kind {
		case dueErr:
			if !d.fits(saidErr, text, false) {
				return false
			}
			if before {
				d.kind = dueMaybe
				return false
			}
			l.items = append(l.items[:i], l.items[i+1:]...)
			return true
		case dueMaybe, dueOption, dueSilent:
			before = before || d.fits(saidErr, text, false)
		default:
			return false
		}
	}
	return false
}

// fits reports whether an -ERR with that text can be what a verbose client is due next.
func (l *ledger) fits(text []byte) bool {
	for i := l.head; i < len(l.items); i++ {
		if d := &l.items[i]; d.fits(saidErr, text, true) {
			return true
		} else if d.kind != dueOption {
			return false
		}
	}
	return false
}

func (d *due) fits(verb inboundVerb, text []byte, verbose bool) bool {
	switch verb {
	case saidPong:
		return d.kind == duePong
	case saidOK:
		return d.kind == dueOK || d.kind == dueMaybe && verbose
	case saidErr:
		switch d.kind {
		case dueErr, dueMaybe, dueFatal, dueOption:
			return d.err != "" && (string(text) == string(d.err) || among(d.errs, text))
		}
	}
	return false
}

// oldestPing is when the ping was sent that has waited longest.
func (l *ledger) oldestPing() (schedule.Time, bool) {
	if l.pongs == 0 {
		return 0, false
	}
	for i := l.head; i < len(l.items); i++ {
		if l.items[i].kind == duePong {
			return l.items[i].at, true
		}
	}
	return 0, false
}

// next tells the words of the error that is due before any other answer; a fatal one may have none.
func (l *ledger) fatal() (wire.Err, bool) {
	for i := l.head; i < len(l.items); i++ {
		if l.items[i].kind == dueFatal {
			return l.items[i].err, true
		}
	}
	return "", false
}

// unanswered describes the first answer that is due.
func (l *ledger) unanswered() string {
	if l.empty() {
		return "nothing"
	}
	switch d := l.items[l.head]; d.kind {
	case duePong:
		return "PONG"
	case dueOK:
		return "+OK"
	case dueFatal:
		return "-ERR '" + string(d.err) + "' and the end"
	default:
		return "-ERR '" + string(d.err) + "'"
	}
}

// loosen follows a reload: what was certain by the permissions before it is no more.
func (l *ledger) loosen() {
	for i := l.first(); i < len(l.items); i++ {
		d := &l.items[i]
		switch {
		case d.err == "":
		case d.kind == dueSilent, d.kind == dueOK, d.kind == dueErr && d.mild:
			d.kind = dueMaybe
			fallthrough
		default:
			d.errs = append(d.errs[:len(d.errs):len(d.errs)], d.more...)
		}
	}
}

// among reports whether the text is one of the words.
func among(words []wire.Err, text []byte) bool {
	for _, w := range words {
		if string(w) == string(text) {
			return true
		}
	}
	return false
}
