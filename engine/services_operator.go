package engine

import (
	"encoding/json"

	"github.com/natsd/natsd/wire"
)

// operatorServices are those of one server, by which operators act on it.
func operatorServices() []namedService {
	return []namedService{
		{"KICK", (*Engine).serveKick}, {"LDM", (*Engine).serveClientLameDuck}, {"RELOAD", (*Engine).serveReload},
		{"EXPLAIN", (*Engine).serveExplain}, {"TRACE", (*Engine).serveTrace},
	}
}

// clientRequest names a client.
type clientRequest struct {
	CID uint64 `json:"cid"`
}

// named finds the client that a call names. Nil: there is none, or the call can't be read, which has been answered.
func (e *Engine) named(k *call, missing string) *conn {
	var r clientRequest
	if err := json.Unmarshal(k.body, &r); err != nil {
		e.misunderstood(k, err)
		return nil
	}
	c := e.byCID(r.CID)
	if c == nil {
		e.fail(k, missing)
	}
	return c
}

// byCID finds a connection by its number; nil: there is none, or it is closing.
func (e *Engine) byCID(cid uint64) *conn {
	e.work += len(e.conns) / lookWork
	for _, c := range e.conns {
		if c != nil && c.cid == cid && c.gate&gateClosed == 0 {
			return c
		}
	}
	return nil
}

// serveKick closes a client.
func (e *Engine) serveKick(k *call) {
	if c := e.named(k, "no such client or leafnode id"); c != nil {
		e.closeConn(c, ReasonKicked, "")
		e.reply(k, &envelope{})
	}
}

// serveClientLameDuck tells a client to go elsewhere, as if the server were about to stop.
func (e *Engine) serveClientLameDuck(k *call) {
	if c := e.named(k, "no such client id"); c != nil {
		e.sendInfo(c, func(i *wire.Info) { i.LameDuckMode = true })
		e.reply(k, &envelope{})
	}
}

// Operator is who started the server.
type Operator interface {
	// Reload asks for the configuration to be read again and put into force with Engine.Reload. Engine.Reloaded follows.
	Reload(id ReloadID)
}

// ReloadID names a reload that was asked for.
type ReloadID uint64

// serveReload has the configuration read again.
func (e *Engine) serveReload(k *call) {
	if !e.meant(k, nil) {
		return
	}
	if e.env.Operator == nil {
		e.reply(k, &envelope{Error: &serviceError{500, "there is no configuration to read again"}})
		return
	}
	e.sys.reloads++
	id := ReloadID(e.sys.reloads)
	e.sys.reloading[id] = k
	e.env.Operator.Reload(id)
}

// Reloaded tells that a reload which Operator.Reload asked for is over. problem is why nothing has changed; empty: it has.
func (e *Engine) Reloaded(id ReloadID, problem string) {
	k := e.sys.reloading[id]
	if k == nil {
		return
	}
	delete(e.sys.reloading, id)
	v := &envelope{}
	if problem != "" {
		v.Error = &serviceError{500, problem}
	}
	e.reply(k, v)
}
