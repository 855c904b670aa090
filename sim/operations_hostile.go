package sim

import (
	"strconv"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/wire"
)

// What a client may do that the server has an answer to, and what it must be closed for.

func (c *client) misbehave(op operation, s slotKey) {
	switch op {
	case opOddPublish:
		c.oddPublish(s)
	case opOddSubscribe:
		c.nextSid++
		bad := [...]string{"a..b", ".a", "a.", "a.>.b", "."}
		pattern := bad[s.below(detailVariant, uint64(len(bad)))]
		c.out = append(append(c.out, "SUB "...), pattern...)
		c.out = append(strconv.AppendUint(append(c.out, ' '), c.nextSid, 10), "\r\n"...)
		if c.mayNotAnyway(pattern) {
			return
		}
		var more []wire.Err
		if c.user != "" {
			more = []wire.Err{c.subViolation(pattern, "")} // in a configuration with an allow list
		}
		if limited, _ := c.w.cfg.limited(); limited {
			c.ledger.add(due{kind: dueOption, err: wire.ErrMaxSubscriptions}) // checked first
			c.ledger.add(due{kind: dueOption, err: wire.ErrInvalidSubject, more: more})
			return
		}
		c.ledger.add(due{kind: dueErr, err: wire.ErrInvalidSubject, more: more})
	case opGarbage:
		c.sendGarbage(s)
	default:
		c.offend(op, s)
	}
}

// oddPublish publishes on a subject that is no literal: routed all the same.
func (c *client) oddPublish(s slotKey) {
	if c.w.cfg.tenants == nil && s.below(detailHow, 8) == 7 { // where there are accounts, mappings may make something else of it
		c.publishReserved(s)
		return
	}
	odd := [...]string{"a.*", ">", "a.>", "a..b", "*.b", ".a"}
	subj := odd[s.below(detailVariant, uint64(len(odd)))]
	if c.traits.pedantic && !subject.ValidLiteral(subj) {
		c.ledger.add(due{kind: dueErr, err: wire.ErrInvalidPublish})
	}
	c.publish(message{subject: subj, size: 64})
}

// publishReserved publishes on a subject that is servers' among themselves, or wants answers on one.
func (c *client) publishReserved(s slotKey) {
	subjects, replies := [...]string{"$NRG.a", "_GR_.a.b", "$GR.a"}, [...]string{"$JS.ACK.a", "_GR_.a.b", "$GR.a"}
	variant := s.below(detailVariant, uint64(len(subjects)))
	if subj := subjects[variant]; s.below(detailWhich, 2) == 0 {
		c.out = append(c.out, "PUB "+subj+" 0\r\n\r\n"...)
		c.ledger.add(due{kind: dueErr, err: wire.Err("Permissions Violation for Publish to \"" + subj + "\"")})
		return
	}
	c.out = append(c.out, "PUB a "+replies[variant]+" 0\r\n\r\n"...)
	c.ledger.add(due{kind: dueErr, err: wire.Err("Permissions Violation for Publish with Reply of \"" + replies[variant] + "\"")})
}

// offend sends what the connection is closed for.
func (c *client) offend(op operation, s slotKey) {
	now := c.node.terms()
	switch op {
	case opTooBig:
		size := max(c.maxPayload, now.payload) + 1 + int(s.below(detailSize, 100_000))
		c.out = strconv.AppendInt(append(c.out, "PUB a "...), int64(size), 10)
		c.out = append(c.out, "\r\n"...)
		c.refusal(wire.ErrMaxPayload)
		if s.below(detailHow, 2) == 1 { // and sends what it announced
			c.out = append(c.out, make([]byte, min(size, 4096))...)
		}
	case opLongLine:
		verbs := [...]string{"SUB ", "PUB ", "UNSUB "}
		c.out = append(c.out, verbs[s.below(detailVariant, uint64(len(verbs)))]...)
		for range now.line + 1 + int(s.below(detailSize, 3)) {
			c.out = append(c.out, 'a')
		}
		c.out = append(c.out, 'a')
		if s.below(detailHow, 2) == 1 {
			c.out = append(c.out, "\r\n"...)
		}
		c.refusal(wire.ErrMaxControlLine)
	case opHalfMessage:
		c.out = strconv.AppendInt(append(c.out, "PUB a "...), int64(min(c.maxPayload, now.payload)), 10)
		c.out = append(c.out, "\r\nbeginning"...)
		// Its PONGs would be payload from here on.
		c.mute, c.lazy, c.fatal = true, true, true
	case opBadVerb:
		verbs := [...]string{"MSG a 1 0\r\n\r\n", "FOO\r\n", "\r\n", "PU B\r\n", "RS+ a\r\n", "SUBSCRIBE\r\n"}
		c.out = append(c.out, verbs[s.below(detailVariant, uint64(len(verbs)))]...)
		c.refusal(wire.ErrUnknownOp)
	case opBadArguments:
		lines := [...]string{"PUB a\r\n", "PUB a b c 3\r\n", "PUB a -1\r\n", "SUB a\r\n", "SUB a b c d\r\n", "UNSUB 1 2 3\r\n", "PUB a 0x2\r\n"}
		c.out = append(c.out, lines[s.below(detailVariant, uint64(len(lines)))]...)
		c.ledger.add(due{kind: dueOption, err: wire.ErrParser})
		c.refusal("")
	case opBadPayload:
		c.out = append(c.out, "PUB a 5\r\nhello"...)
		ends := [...]string{"xx", "\n\r", "\rx", " \r\n"}
		c.out = append(c.out, ends[s.below(detailVariant, uint64(len(ends)))]...)
		c.refusal(wire.ErrUnknownOp)
	case opNoHeaders:
		if c.headers {
			return
		}
		c.out = append(c.out, "HPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"...)
		c.ledger.add(due{kind: dueOption, err: wire.ErrNoHeaders})
		c.refusal("")
	}
}

// sendGarbage writes a few lines with mistakes.
func (c *client) sendGarbage(s slotKey) {
	c.forsake()
	if c.user != "" && s.below(detailWhich, 3) == 0 {
		c.pretend(s)
		return
	}
	for i := range uint32(1 + s.below(detailCount, 4)) {
		line := []byte(garbageLines[s.each(detailTemplate, i, c.w.garbageKinds())])
		place := int(s.each(detailPlace, i, uint64(len(line))))
		x := byte(s.each(detailByte, i, 256))
		switch s.each(detailHow, i, 4) {
		case 0: // as it is
		case 1:
			line[place] = x
		case 2:
			line = append(line[:place], line[place+1:]...)
		case 3:
			line = append(line[:place+1], line[place:]...)
		}
		c.out = append(c.out, line...)
	}
}
