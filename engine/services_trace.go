package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// wishRequest asks for lines of a connection or an account in the log, or for what is asked for so far.
type wishRequest struct {
	CID     uint64 `json:"cid"`
	Account string `json:"account"`
	Trace   *bool  `json:"trace"` // absent: true
	Verbose bool   `json:"verbose"`
	Debug   bool   `json:"debug"`
	Off     bool   `json:"off"`
}

// wishAnswer is all that is logged of connections and accounts by now.
type wishAnswer struct {
	Server      wishedLines   `json:"server"` // of everything, by the configuration
	Connections []wishedLines `json:"connections"`
	Accounts    []wishedLines `json:"accounts"`
}

type wishedLines struct {
	CID     uint64 `json:"cid,omitempty"`
	Account string `json:"account,omitempty"`
	Trace   bool   `json:"trace"`
	Verbose bool   `json:"verbose"`
	Debug   bool   `json:"debug"`
}

// errWishUnread is what is wrong with a request that can't be read.
var errWishUnread = errors.New(`the request is an object such as {"cid": 5} or {"account": "A", "verbose": true, "debug": true}; with "off": true it ends that; {} lists what is traced`)

// serveTrace has the lines of a connection, or of an account, logged, or no longer, and tells of which they are.
func (e *Engine) serveTrace(k *call) {
	r, err := readWish(k.body)
	if err != nil {
		e.misunderstood(k, err)
		return
	}
	if err := e.fulfil(r); err != nil {
		e.fail(k, err.Error())
		return
	}
	e.tell(k, e.wishAnswer())
}

// readWish reads a request. What is misspelt in it would not be missed in an answer that lists something: it is refused.
func readWish(body []byte) (*wishRequest, error) {
	r := &wishRequest{}
	if len(bytes.TrimSpace(body)) == 0 {
		return r, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode(r) != nil {
		return nil, errWishUnread
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errWishUnread
	}
	named := r.CID != 0 || r.Account != ""
	switch {
	case r.CID != 0 && r.Account != "":
		return nil, errors.New("the request names a connection or an account, not both")
	case !named && (r.Trace != nil || r.Verbose || r.Debug):
		return nil, errors.New("the request names neither a connection (cid) nor an account")
	case named && !r.Off && r.wish() == 0:
		return nil, errors.New(`"trace": false leaves nothing to be logged without "verbose" or "debug"; "off": true ends it`)
	}
	return r, nil
}

// wish is what is to be logged.
func (r *wishRequest) wish() (w wish) {
	if r.Off {
		return 0
	}
	if r.Trace == nil || *r.Trace {
		w |= wishTrace
	}
	if r.Verbose {
		w |= wishVerbose
	}
	if r.Debug {
		w |= wishDebug
	}
	return w
}

// fulfil does what is asked for, or says why not.
func (e *Engine) fulfil(r *wishRequest) error {
	room := true
	switch {
	case r.CID != 0:
		c := e.byCID(r.CID)
		if c == nil {
			return fmt.Errorf("there is no connection %d", r.CID)
		}
		room = e.wishConn(c, r.wish())
	case r.Account != "":
		a := e.byAccount[r.Account]
		if a == nil || a.absent && a.conns == 0 && a.wish == 0 {
			return fmt.Errorf("there is no account %q", r.Account)
		}
		room = e.wishAccount(a, r.wish())
	case r.Off:
		e.endWishes()
	}
	if !room {
		return fmt.Errorf("%d connections and accounts are traced, and more can't be: end one of them first", wishesMax)
	}
	return nil
}

// wishAnswer tells what is logged by now.
func (e *Engine) wishAnswer() *wishAnswer {
	o := &e.opts
	v := &wishAnswer{
		Server:      wishedLines{Trace: o.Trace, Verbose: o.Trace && o.TraceVerbose, Debug: o.Debug},
		Connections: []wishedLines{}, Accounts: []wishedLines{},
	}
	for _, c := range e.wishes.conns {
		if c.gate&gateClosed == 0 {
			v.Connections = append(v.Connections, linesOf(c.wish, c.cid, ""))
		}
	}
	for _, a := range e.wishes.accounts {
		v.Accounts = append(v.Accounts, linesOf(a.wish, 0, a.name))
	}
	return v
}

func linesOf(w wish, cid uint64, account string) wishedLines {
	return wishedLines{
		CID: cid, Account: account,
		Trace: w&wishTrace != 0, Verbose: w&wishVerbose != 0, Debug: w&wishDebug != 0,
	}
}
