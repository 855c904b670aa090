package engine

import "encoding/binary"

// verdicts remembers what permissions say about the subjects asked about last: most messages go where others went before.
// It holds no more than its lines, and answers only for the very subject that was noted.
type verdicts struct {
	lines [verdictLines]verdictLine
	last  *verdictLine // that was asked for last; nil: none was
}

const (
	verdictLines = 64
	verdictShort = 62 // subjects up to so many bytes are noted
)

// verdictLine is one processor cache line.
type verdictLine struct {
	subject [verdictShort]byte
	n       uint8 // bytes of subject; 0: nothing is noted
	allowed bool
}

// line is where subj is noted if it is, or is to be; nil for one that is too long.
func (v *verdicts) line(subj []byte) *verdictLine {
	n := len(subj)
	if n < 1 || n > verdictShort {
		return nil
	}
	h := uint64(n)
	if n >= 8 {
		h ^= binary.LittleEndian.Uint64(subj) ^ binary.LittleEndian.Uint64(subj[n-8:])*3
	} else {
		for _, b := range subj {
			h = h<<8 | uint64(b)
		}
	}
	return &v.lines[h*0x9e3779b97f4a7c15>>58]
}

func (l *verdictLine) is(subj []byte) bool {
	return int(l.n) == len(subj) && string(l.subject[:l.n]) == string(subj)
}

func (l *verdictLine) note(subj []byte, allowed bool) {
	l.n, l.allowed = uint8(copy(l.subject[:], subj)), allowed
}

// canPublish is perms.CanPublish.
func (u *user) canPublish(subj []byte) bool {
	if u.pub == nil {
		u.pub = &verdicts{}
	}
	l := u.pub.line(subj)
	if l == nil {
		return u.perms.CanPublish(subj)
	}
	if !l.is(subj) {
		l.note(subj, u.perms.CanPublish(subj))
	}
	return l.allowed
}

// mayGet is perms.MayDeliver for a subscription that is in no queue group.
func (u *user) mayGet(subj []byte) bool {
	if u.sub == nil {
		u.sub = &verdicts{}
	}
	l := u.sub.line(subj)
	if l == nil {
		return u.perms.MayDeliver(nil, subj)
	}
	if !l.is(subj) {
		l.note(subj, u.perms.MayDeliver(nil, subj))
	}
	u.sub.last = l
	return l.allowed
}

// justGot reports whether subj is what mayGet was asked about last, and answered that it may: the next message mostly has the same
// subject. u may be nil: it was not.
func (u *user) justGot(subj []byte) bool {
	return u != nil && u.sub != nil && u.sub.last != nil && u.sub.last.allowed && u.sub.last.is(subj)
}

// mayDeliver reports whether a subscription of the user may be given subj.
func (u *user) mayDeliver(s *subscription, subj []byte) bool {
	if queue := s.handle.Queue(); queue != "" {
		return u.perms.MayDeliver([]byte(queue), subj)
	}
	return u.mayGet(subj)
}
