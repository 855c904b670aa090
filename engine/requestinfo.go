package engine

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/natsd/natsd/wire"
)

// requestInfo is what a service learns about who asks, in the header Nats-Request-Info: all of it if the account of who asks
// shares it with its import, else the account and the time a message takes. The fields and their order are nats-server's.
type requestInfo struct {
	Start      string   `json:"start,omitempty"`
	Host       string   `json:"host,omitempty"`
	ID         uint64   `json:"id,omitempty"`
	Account    string   `json:"acc,omitempty"`
	Service    string   `json:"svc,omitempty"`
	User       string   `json:"user,omitempty"`
	Name       string   `json:"name,omitempty"`
	Lang       string   `json:"lang,omitempty"`
	Version    string   `json:"ver,omitempty"`
	RTT        int64    `json:"rtt,omitempty"` // nanoseconds
	Server     string   `json:"server,omitempty"`
	Cluster    string   `json:"cluster,omitempty"`
	Stop       string   `json:"stop,omitempty"`
	JWT        string   `json:"jwt,omitempty"`
	IssuerKey  string   `json:"issuer_key,omitempty"`
	NameTag    string   `json:"name_tag,omitempty"` // of the user, in events of the account
	Tags       []string `json:"tags,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	ClientType string   `json:"client_type,omitempty"`
}

const requestInfoKey = "Nats-Request-Info"

// who describes a connection, completely or without what is nobody's business.
func (e *Engine) who(c *conn, all bool) requestInfo {
	i := requestInfo{Account: c.account().name, RTT: int64(c.roundTrip())}
	if all {
		i.Start = time.Unix(0, int64(c.start)).UTC().Format(time.RFC3339Nano)
		i.Host, i.ID, i.Server = c.ip, c.cid, e.info.ServerName
		i.User, i.Name, i.Lang, i.Version = c.claimed(), c.connect.Name, c.connect.Lang, c.connect.Version
		p := c.papers()
		i.JWT, i.IssuerKey, i.NameTag, i.Tags = p.text, p.issuer, p.label, p.tags
		if d := c.turnedAway; d != nil {
			i.IssuerKey = d.issuer()
		}
		i.Kind, i.ClientType = "Client", "nats"
	}
	return i
}

// shared reports what a service is to be told of who asks with e.out, a request that crosses by x: all if the import by which the
// request left the account of that one shares it, for what was not shared with a service that is no service's to share with others; the
// server's name too if any on the way shares.
func (m *outgoing) shared(x *crossing) (all, server bool) {
	server = x.service.share
	for x.behind > 0 {
		x = &m.cross[x.behind-1]
		server = server || x.service.share
	}
	return x.service.share, server
}

// informs is what a service is told of who asks with e.out.
func (e *Engine) informs(x *crossing) []byte {
	all, server := e.out.shared(x)
	info := e.who(e.out.from, all)
	if x.hops > 1 {
		info.Service = x.service.account.name
	}
	if server || x.to == e.system {
		info.Server = e.info.ServerName
	}
	text, err := json.Marshal(info)
	if err != nil {
		panic("engine: strings and numbers are always JSON: " + err.Error())
	}
	return text
}

// addRequestInfo gives e.out, a request that crosses, the header that says who asks. One that the client wrote itself goes.
func (e *Engine) addRequestInfo(x *crossing) {
	m, text := &e.out, x.info
	if text == nil {
		text = e.informs(x)
	}
	line := len(requestInfoKey) + len(": \r\n") + len(text)
	ck := e.pool.get(len(m.body) + len(wire.HeaderLine) + len("\r\n\r\n") + line)
	m.held = append(m.held, ck)
	b := ck.data[:0]
	if m.header > 0 {
		b = appendHeaderWith(b, m.body[:m.header], requestInfoKey, text)
	} else {
		b = append(append(append(b, wire.HeaderLine+"\r\n"+requestInfoKey+": "...), text...), "\r\n\r\n"...)
	}
	header := len(b)
	b = append(b, m.body[m.header:]...)
	m.size += header - m.header
	m.header, m.body = header, b
}

// appendHeaderWith appends a header block with one key more. Lines of that key go, in any letter case and with blanks around it.
// The new one is the last before the first empty line, where readers stop: a block that has one in its middle does not hide it.
// What does not end as a header block does gets such an end.
func appendHeaderWith(dst, block []byte, key string, value []byte) []byte {
	added := false
	for first := true; len(block) > 0; first = false {
		line := block
		if end := bytes.IndexByte(block, '\n'); end >= 0 {
			line = block[:end+1]
		}
		block = block[len(line):]
		if name, _, found := bytes.Cut(line, []byte(":")); found && bytes.EqualFold(bytes.TrimSpace(name), []byte(key)) {
			continue
		}
		if !first && !added && len(bytes.TrimRight(line, "\r\n")) == 0 {
			dst = appendHeaderLine(dst, key, value)
			added = true
		}
		dst = append(dst, line...)
	}
	if !added {
		if !bytes.HasSuffix(dst, []byte("\n")) {
			dst = append(dst, "\r\n"...)
		}
		return append(appendHeaderLine(dst, key, value), "\r\n"...)
	}
	if !bytes.HasSuffix(dst, []byte("\r\n\r\n")) {
		dst = append(dst, "\r\n\r\n"...)
	}
	return dst
}

func appendHeaderLine(dst []byte, key string, value []byte) []byte {
	dst = append(append(dst, key...), ": "...)
	return append(append(dst, value...), "\r\n"...)
}
