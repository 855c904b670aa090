package engine

import "github.com/natsd/natsd/sublist"

// globalAccount is the account of everybody who names none.
const globalAccount = "$G"

// account is a subject space of its own: what is published in it reaches its subscriptions and no others.
type account struct {
	name string
	subs *sublist.Sublist[*subscription]
}

func newAccount(name string, cache int, seed uint64) *account {
	return &account{name: name, subs: sublist.New[*subscription](sublist.Options{CacheSize: cache, Seed: seed})}
}

// lookWork is how many subscriptions, or branches of the index, are looked at for one unit of a turn's work.
const lookWork = 8

// match is what subj reaches. What it costs counts towards the turn: there are subscriptions that make it cost much.
func (e *Engine) match(a *account, subj []byte) *sublist.Result[*subscription] {
	before := a.subs.Steps()
	r := a.subs.Match(subj)
	e.work += int((a.subs.Steps() - before) / lookWork)
	return r
}

// subscription is one SUB of one connection. What a delivery needs lies in its first 64 bytes.
type subscription struct {
	conn      *conn
	sidLen    uint8
	dead      bool // no longer to be delivered to, though a match made earlier may still name it
	sidShort  [sidShort]byte
	delivered uint64
	max       uint64 // ends after so many deliveries; 0: never

	sidLong string // a sid that does not fit into sidShort
	handle  sublist.Handle[*subscription]
	index   int // in conn.subs
}

// sidShort is the length up to which sids, mostly small numbers, lie in the subscription itself.
const sidShort = 22

func newSubscription(c *conn, sid []byte) *subscription {
	s := &subscription{conn: c}
	if len(sid) <= sidShort {
		s.sidLen = uint8(copy(s.sidShort[:], sid))
	} else {
		s.sidLong = string(sid)
	}
	return s
}

// appendSID appends the sid.
func (s *subscription) appendSID(b []byte) []byte {
	if s.sidLong != "" {
		return append(b, s.sidLong...)
	}
	return append(b, s.sidShort[:s.sidLen]...)
}

// sid is the sid as text; it allocates.
func (s *subscription) sid() string { return string(s.appendSID(nil)) }

func (s *subscription) hasSID(sid []byte) bool {
	if s.sidLong != "" {
		return s.sidLong == string(sid)
	}
	return string(s.sidShort[:s.sidLen]) == string(sid)
}
