package engine

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/natsd/natsd/monitor"
)

// What happens to the server is told in the system account, if anybody listens: who does not costs nothing. The subjects,
// fields and their order are nats-server's.

const (
	typeConnect    = "io.nats.server.advisory.v1.client_connect"
	typeDisconnect = "io.nats.server.advisory.v1.client_disconnect"
	typeConns      = "io.nats.server.advisory.v1.account_connections"
)

// eventHead is what events begin with.
type eventHead struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Time   string          `json:"timestamp"`
	Server json.RawMessage `json:"server"`
}

type connectEvent struct {
	eventHead
	Client requestInfo `json:"client"`
}

type disconnectEvent struct {
	eventHead
	Client   requestInfo `json:"client"`
	Sent     tally       `json:"sent"` // by the client
	Received tally       `json:"received"`
	Reason   CloseReason `json:"reason"`
}

// tally counts messages and their bytes, headers and payload.
type tally struct {
	Msgs  uint64 `json:"msgs"`
	Bytes uint64 `json:"bytes"`
}

type connsEvent struct {
	eventHead
	monitor.AccountStat
}

const (
	// eventsMax is how many messages of the server's own may wait for their turn. Events for which there is no room are lost.
	eventsMax = 100_000
	// eventWork is what one counts as in a turn.
	eventWork = 8
	// connsEvery is how often the connections of an account are told of where there are any.
	connsEvery = 30 * time.Second
)

func (e *Engine) eventHead(kind string) eventHead {
	return eventHead{Type: kind, ID: e.sys.ids.make(), Time: e.wall.time().Format(time.RFC3339Nano)}
}

// say publishes an event if anybody listens and there is room for it. body is asked for when it is published.
func (e *Engine) say(subj string, body func(*Engine) []byte) { e.sayIn(e.system, subj, body) }

// sayIn is say in another account.
func (e *Engine) sayIn(a *account, subj string, body func(*Engine) []byte) {
	if !e.listens(a, []byte(subj)) {
		return
	}
	if !e.posts.fits(a, eventsMax, suspendedMax) {
		e.sys.dropped.add(e.now)
		return
	}
	e.work += eventWork
	e.posts.push(a, post{account: a, subject: subj, make: body}, 0)
}

// tellDropped logs how many events were lost, once there is room again.
func (e *Engine) tellDropped() {
	if !e.posts.empty() {
		return
	}
	if n := e.sys.dropped.take(e.now); n > 0 {
		e.logf(LevelWarn, "", strconv.Itoa(n)+" events were lost: too many waited")
	}
}

// announce counts a connection in its account and tells of it: it has said who it is, or done something that needs no saying.
func (e *Engine) announce(c *conn) {
	if c.gate&gateClosed != 0 {
		return
	}
	c.told = true
	e.join(c)
	if subj := "$SYS.ACCOUNT." + c.acc.name + ".CONNECT"; e.heard(subj) {
		ev := &connectEvent{eventHead: e.eventHead(typeConnect), Client: e.eventClient(c)}
		ev.Client.RTT = 0
		e.say(subj, func(e *Engine) []byte {
			ev.Server = e.identity()
			return mustJSON(ev)
		})
	}
}

// eventClient is a client in an event.
func (e *Engine) eventClient(c *conn) requestInfo {
	i := e.who(c, true)
	i.Server, i.NameTag = "", c.account().title()
	return i
}

// depart tells that a connection is gone.
func (e *Engine) depart(c *conn, reason CloseReason) {
	e.leave(c)
	e.sayGone(e.system, "$SYS.ACCOUNT."+c.account().name+".DISCONNECT", c, reason)
}

// refused tells that somebody could not say who he is.
func (e *Engine) refused(c *conn, reason CloseReason) {
	e.sayGone(e.system, "$SYS.SERVER."+e.info.ServerID+".CLIENT.AUTH.ERR", c, reason)
}

// refusedIn tells an account, which had to do with it, that somebody was not let in, and why.
func (e *Engine) refusedIn(a *account, c *conn, why string) {
	e.sayGone(a, "$SYS.ACCOUNT.CLIENT.AUTH.ERR", c, CloseReason(why))
}

// sayGone tells in an account of a connection that is gone. Another account than the server's own learns of it as its own.
func (e *Engine) sayGone(a *account, subj string, c *conn, reason CloseReason) {
	if !e.listens(a, []byte(subj)) {
		return
	}
	ev := &disconnectEvent{
		eventHead: e.eventHead(typeDisconnect), Client: e.eventClient(c), Reason: reason,
		Sent: tally{c.stats.inMsgs, c.stats.inBytes}, Received: tally{c.stats.outMsgs, c.stats.outBytes},
	}
	ev.Client.Stop = ev.Time
	if a != e.system {
		ev.Client.Account, ev.Client.NameTag = a.name, a.title()
	}
	e.sayIn(a, subj, func(e *Engine) []byte {
		ev.Server = e.identity()
		return mustJSON(ev)
	})
}

// connsChanged tells how many connections an account has. While it waits to be told, further changes are a part of it.
func (e *Engine) connsChanged(a *account) {
	if a.conns > 0 {
		e.timers.set(&a.beat, later(e.now, connsEvery))
	} else {
		e.timers.remove(&a.beat)
	}
	e.watchStatsz()
	first, second := "$SYS.SERVER.ACCOUNT."+a.name+".CONNS", "$SYS.ACCOUNT."+a.name+".SERVER.CONNS"
	if a.telling || !e.heard(first) && !e.heard(second) {
		return
	}
	a.telling = true
	ev := &connsEvent{eventHead: e.eventHead(typeConns)}
	fill := func(e *Engine) []byte {
		a.telling = false
		ev.Server, ev.AccountStat = e.identity(), e.accountStat(a)
		return mustJSON(ev)
	}
	before := e.posts.n
	e.say(first, fill)
	e.say(second, fill)
	if e.posts.n == before {
		a.telling = false
	}
}

// sayEnd tells at once that the server is about to go. It is called outside of deliveries.
func (e *Engine) sayEnd(what string) {
	subj := "$SYS.SERVER." + e.info.ServerID + "." + what
	if e.posts.holds(e.system) || !e.heard(subj) {
		return
	}
	e.publishPost(e.system, &post{account: e.system, subject: subj, make: (*Engine).identityText})
}

func (e *Engine) identityText() []byte { return e.appendIdentity(nil) }
