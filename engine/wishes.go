package engine

import "slices"

// Options.Trace and Options.Debug are about everything. An operator can also ask for the lines of single connections and accounts,
// while the server runs (services_trace.go): those are wishes. They are no part of the configuration: a reload leaves them as they
// are, and they end with the process. One of a connection ends with it; one of an account is about whoever is in it, as long as it
// stands, even if a reload takes the account out and another brings it back.

// wish is what is to be logged of a connection or an account.
type wish uint8

const (
	wishTrace   wish = 1 << iota // what it sends and is sent
	wishVerbose                  // what the server itself publishes in the account, that of the connection
	wishDebug                    // what happens to it
)

// wishesMax bounds the connections and accounts with wishes: they are looked through for each message of the server's own.
const wishesMax = 64

// wishes are those in force, in the order in which they were made.
type wishes struct {
	conns    []*conn
	accounts []*account
}

func (w *wishes) none() bool { return len(w.conns)+len(w.accounts) == 0 }

func (w *wishes) full() bool { return len(w.conns)+len(w.accounts) >= wishesMax }

// wishConn has lines of a connection logged from now on, or none any more. It reports whether there was room for that.
func (e *Engine) wishConn(c *conn, what wish) bool {
	return wishOf(e, &e.wishes.conns, c, &c.wish, what)
}

// wishAccount is wishConn for an account.
func (e *Engine) wishAccount(a *account, what wish) bool {
	return wishOf(e, &e.wishes.accounts, a, &a.wish, what)
}

// wishOf is both: list has those of the kind that have a wish.
func wishOf[T comparable](e *Engine, list *[]T, x T, has *wish, what wish) bool {
	switch {
	case what == 0:
		*list = slices.DeleteFunc(*list, func(y T) bool { return y == x })
	case *has == 0 && e.wishes.full():
		return false
	case *has == 0:
		*list = append(*list, x)
	}
	*has = what
	e.noteTraces()
	return true
}

// endWish ends that of a connection which is gone, when the last line about it has been written: that of its last subscription.
func (e *Engine) endWish(c *conn) {
	if c.wish != 0 && c.gone && len(c.subs) == 0 && (c.requests == nil || c.requests.n == 0) {
		e.wishConn(c, 0)
	}
}

// endWishes ends all of them.
func (e *Engine) endWishes() {
	for _, c := range e.wishes.conns {
		c.wish = 0
	}
	for _, a := range e.wishes.accounts {
		a.wish = 0
	}
	e.wishes = wishes{}
	e.noteTraces()
}

// noteTraces notes whether anything at all may have to be traced. Whoever has a message in hand asks that and no more.
func (e *Engine) noteTraces() { e.traces = e.opts.Trace || !e.wishes.none() }

// wished is what is to be logged of a connection. To its account it belongs from its login on.
func (c *conn) wished() wish {
	w := c.wish
	if c.connected || c.told {
		w |= c.acc.wish
	}
	return w
}

// tracesOf reports whether what a connection sends and is sent is traced. It is asked only where Engine.traces is set.
func (e *Engine) tracesOf(c *conn) bool { return e.opts.Trace || c.wished()&wishTrace != 0 }

// tracesOwn reports whether what the server itself publishes in an account is traced; likewise.
func (e *Engine) tracesOwn(a *account) bool {
	return e.opts.Trace && e.opts.TraceVerbose || a.wish&wishVerbose != 0 ||
		slices.ContainsFunc(e.wishes.conns, func(c *conn) bool { return c.wish&wishVerbose != 0 && c.acc == a })
}

// debugs reports whether the log is told what happens to a connection.
func (e *Engine) debugs(c *conn) bool {
	return e.opts.Debug || !e.wishes.none() && c.wished()&wishDebug != 0
}

// debugsIn is debugs for what happens to an account; nil: one that is not known.
func (e *Engine) debugsIn(a *account) bool {
	return e.opts.Debug || a != nil && a.wish&wishDebug != 0
}

// traceLevel is the level of a line that was found to be wanted.
func (e *Engine) traceLevel() Level {
	if e.opts.Trace {
		return LevelTrace
	}
	return LevelTraceWished
}

func (e *Engine) debugLevel() Level {
	if e.opts.Debug {
		return LevelDebug
	}
	return LevelDebugWished
}
