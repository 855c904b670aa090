package engine

import "strconv"

// callBytesMax bounds the messages that wait in an intake; Options.MaxCalls bounds their number.
const callBytesMax = 16 << 20

// intake is what the server has received and not yet handled.
type intake struct {
	calls   rota[*call] // on behalf of the accounts in which they were published
	refused hushed      // messages for which there was no room
	replies bool        // answers to what the server asked, else requests
}

func (i *intake) name() string {
	if i.replies {
		return "answers to the server"
	}
	return "requests to the server"
}

// take gives e.out to a subscription of the server's own.
func (e *Engine) take(s *subscription) {
	m := &e.out
	in := e.intakeFor(s)
	if in == nil {
		return
	}
	m.delivered = true
	e.work += m.size / bytesPerWork
	body := append([]byte(nil), m.body[:m.size]...)
	k := &call{
		account: m.from.acc, subject: string(m.subject), reply: string(m.reply), header: body[:m.header:m.header], body: body[m.header:],
		asker: m.from.acc.name, behalf: m.from.acc, from: e.who(m.from, true), conn: m.from.id, handle: s.also.handle,
	}
	if n := m.crossed; n > 0 {
		x := &m.cross[n-1]
		if k.account = x.to; x.service != nil {
			k.asker = x.service.account.name
		}
	}
	in.calls.push(k.behalf, k, m.size)
}

// intakeFor returns where e.out waits for a subscription of the server's own, nil if it is not taken. Answers that the server
// waits for have room of their own: whoever floods it with requests must not keep those who log in from what is decided
// about them.
func (e *Engine) intakeFor(s *subscription) *intake {
	in := &e.asked
	if prefix := s.also.answers; prefix != "" {
		if e.inboxes[string(e.out.subject[len(prefix):])] == nil {
			return nil
		}
		in = &e.answers
	}
	if !e.hasRoom(in) {
		e.refuse(in)
		return nil
	}
	return in
}

// hasRoom reports whether e.out may wait in an intake: everybody may ask for some things by imports, and must not keep out others, nor
// who runs the server.
func (e *Engine) hasRoom(in *intake) bool {
	a, c := e.out.from.acc, &in.calls
	n, bytes := c.count(a)
	all, accounts, left := c.n, c.accounts(a), callBytesMax-e.out.size
	if c.bytes > left && bytes > left/accounts {
		return false
	}
	if in == &e.asked {
		asked, _ := e.sys.waiting.count(a)
		all, n, accounts = all+e.sys.waiting.n, n+asked, max(accounts, e.sys.waiting.accounts(a))
	}
	return mayJoin(all, n, e.opts.MaxCalls, accounts)
}

// refuse counts a message that is not taken. The log is told of the first, and how many there were once there is room.
func (e *Engine) refuse(in *intake) {
	if in.refused.add(e.now) {
		e.logf(LevelWarn, "", "Too many "+in.name()+" wait: further ones find no responders")
	}
}

// tellRefused logs how many messages were not taken, once none waits.
func (e *Engine) tellRefused(in *intake) {
	if !in.calls.empty() {
		return
	}
	if n := in.refused.take(e.now); n > 0 {
		e.logf(LevelWarn, "", strconv.Itoa(n)+" "+in.name()+" found no responders: too many waited")
	}
}
