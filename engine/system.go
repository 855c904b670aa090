package engine

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/natsd/natsd/config"
)

// The system account is where the server tells what happens to it, and where it is asked. Its users may see everything; those
// of other accounts see of it what is imported for them, which concerns themselves alone.

// system is the server's own part in it.
type system struct {
	block   []byte // JSON of the server, up to the number of what it says
	said    uint64 // how often it said something
	ids     ids
	statsz  timer
	dropped hushed // events for which there was no room, since the log told

	investigating int                  // answers that are being made
	waiting       rota[*investigation] // those that are to be made then
	reloads       uint64
	reloading     map[ReloadID]*call // who wait for one
}

// identity is what a server says of itself in everything that it says. The fields and their order are nats-server's.
type identity struct {
	Name    string            `json:"name"`
	Host    string            `json:"host"`
	ID      string            `json:"id"`
	Version string            `json:"ver"`
	Tags    []string          `json:"tags,omitempty"`
	Meta    map[string]string `json:"metadata,omitempty"`
	Flags   map[string]bool   `json:"feature_flags,omitempty"`
	Stream  bool              `json:"jetstream"`
	Can     uint64            `json:"flags"`
	Seq     uint64            `json:"seq"`
}

// featureFlags are those that nats-server tells of. They concern JetStream.
func featureFlags() map[string]bool {
	return map[string]bool{"js_ack_fc_v2": false, "js_api_reply_v2": false, "js_raft_delete_range": false, "js_snapshot_sources": false}
}

// systemName is the name of the system account where chosen was asked for.
func systemName(chosen config.Located) string {
	if n := chosen.Text; n != "" {
		return n
	}
	return systemAccount
}

// initSystem makes the server ready to speak.
func (e *Engine) initSystem() {
	e.sys.reloading = make(map[ReloadID]*call)
	e.sys.ids = ids{prefix: string(e.appendID(nil, idPrefixLen)), next: e.secrets.Uint64() >> 16}
	e.makeIdentity()
	e.offerServices()
}

// makeIdentity prepares what the server says of itself.
func (e *Engine) makeIdentity() {
	text := mustJSON(&identity{
		Name: e.info.ServerName, Host: e.opts.Host, ID: e.info.ServerID, Version: NatsVersion, Tags: e.opts.Tags, Meta: e.opts.Metadata, Flags: featureFlags(),
	})
	e.sys.block = text[:len(text)-len("0}")]
}

// appendIdentity appends the server as it says the next thing now.
func (e *Engine) appendIdentity(b []byte) []byte {
	e.sys.said++
	b = strconv.AppendUint(append(b, e.sys.block...), e.sys.said, 10)
	b = append(b, `,"time":"`...)
	b = e.wall.time().AppendFormat(b, time.RFC3339Nano)
	return append(b, `"}`...)
}

// identity is appendIdentity's, to be a part of something.
func (e *Engine) identity() json.RawMessage { return e.appendIdentity(nil) }

func (w WallTime) time() time.Time { return time.Unix(0, int64(w)).UTC() }

// mustJSON is the JSON of what always has one.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: strings and numbers are always JSON: " + err.Error())
	}
	return b
}

// ids are names of events: 22 letters and digits, of which the first are the server's own and the others count.
type ids struct {
	prefix string
	next   uint64
}

const (
	idPrefixLen = 12
	idCountLen  = 10
)

func (i *ids) make() string {
	b := make([]byte, idPrefixLen+idCountLen)
	n := copy(b, i.prefix)
	v := i.next
	i.next++
	for at := len(b) - 1; at >= n; at-- {
		b[at] = base62[v%62]
		v /= 62
	}
	return string(b)
}

// heard reports whether anybody listens to what the server says on subj.
func (e *Engine) heard(subj string) bool { return e.listens(e.system, []byte(subj)) }
