package monitor

import (
	"fmt"
	"strconv"
	"time"
)

// AccountzOptions ask for the names of the accounts, or for all about one of them.
type AccountzOptions struct {
	Account string `json:"account"`
}

func (AccountzOptions) question() {}

// Accountz is the answer.
type Accountz struct {
	Options       AccountzOptions `json:"-"`
	ServerID      string          `json:"server_id"`
	Now           time.Time       `json:"now"`
	SystemAccount string          `json:"system_account,omitempty"`
	Accounts      []string        `json:"accounts,omitempty"`
	Account       *Account        `json:"account_detail,omitempty"`
}

// Body implements Answer.
func (a *Accountz) Body() (any, error) {
	if a.Options.Account != "" && a.Account == nil {
		return nil, fmt.Errorf("Account %s does not exist", a.Options.Account)
	}
	return a, nil
}

// Account is all about one account.
type Account struct {
	Name      string               `json:"account_name"`
	Updated   time.Time            `json:"update_time"`
	System    bool                 `json:"is_system,omitempty"`
	Expired   bool                 `json:"expired"`
	Complete  bool                 `json:"complete"`
	JetStream bool                 `json:"jetstream_enabled"`
	Leafs     int                  `json:"leafnode_connections"`
	Clients   int                  `json:"client_connections"`
	Subs      int                  `json:"subscriptions"`
	Mappings  map[string][]MapDest `json:"mappings,omitempty"`
	Exports   []Export             `json:"exports,omitempty"`
	Imports   []Import             `json:"imports,omitempty"`
	JWT       string               `json:"jwt,omitempty"`
	IssuerKey string               `json:"issuer_key,omitempty"`
	NameTag   string               `json:"name_tag,omitempty"`
	Tags      []string             `json:"tags,omitempty"`
	Claim     any                  `json:"decoded_jwt,omitempty"`
	Revoked   map[string]time.Time `json:"revoked_user,omitempty"` // by user key, or "*": JWTs issued up to then don't count
	Stats     SublistStats         `json:"sublist_stats"`
	Responses map[string]Import    `json:"responses,omitempty"`
}

// MapDest is one destination of a subject mapping.
type MapDest struct {
	Subject string `json:"subject"`
	Weight  int    `json:"weight"`
	Cluster string `json:"cluster,omitempty"`
}

// Latency is how an export is measured.
type Latency struct {
	Sampling Sampling `json:"sampling"`
	Results  string   `json:"results"`
}

// Sampling is the percentage of requests that are measured; 0: those whose headers ask for it, which is shown as "headers".
type Sampling int

// MarshalJSON implements json.Marshaler.
func (s Sampling) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte(`"headers"`), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// Export is one export.
type Export struct {
	Subject      string               `json:"subject"`
	Type         string               `json:"type"`
	TokenReq     bool                 `json:"token_req,omitempty"` // who imports it needs an activation token
	ResponseType string               `json:"response_type,omitempty"`
	Latency      *Latency             `json:"service_latency,omitempty"`
	Revoked      map[string]time.Time `json:"revoked_activations,omitempty"` // by importing account, or "*"
	Approved     []string             `json:"approved_accounts,omitempty"`
}

// Import is one import.
type Import struct {
	Subject  string   `json:"subject"`
	Account  string   `json:"account"`
	To       string   `json:"to,omitempty"`
	Local    string   `json:"local_subject,omitempty"`
	Type     any      `json:"type"`    // "stream" or "service"; of responses a number, as nats-server has it
	Invalid  bool     `json:"invalid"` // it is not in force
	Share    bool     `json:"share"`
	Tracking bool     `json:"tracking"`
	Latency  *Latency `json:"latency,omitempty"`
}

// AccountStatzOptions ask for the traffic of accounts.
type AccountStatzOptions struct {
	Accounts []string `json:"accounts"`
	Unused   bool     `json:"include_unused"` // those too that nobody is connected to
}

func (AccountStatzOptions) question() {}

func accountStatzQuery(r *reader) AccountStatzOptions {
	return AccountStatzOptions{Unused: r.flag("unused")}
}

// AccountStatz is the answer.
type AccountStatz struct {
	ServerID string        `json:"server_id"`
	Now      time.Time     `json:"now"`
	Accounts []AccountStat `json:"account_statz"`
}

// Body implements Answer.
func (a *AccountStatz) Body() (any, error) { return a, nil }

// AccountStat is the traffic of one account.
type AccountStat struct {
	Account       string  `json:"acc"`
	Name          string  `json:"name"`
	Conns         int     `json:"conns"`
	LeafNodes     int     `json:"leafnodes"`
	TotalConns    int     `json:"total_conns"`
	NumSubs       int     `json:"num_subscriptions"`
	Sent          Traffic `json:"sent"`
	Received      Traffic `json:"received"`
	SlowConsumers uint64  `json:"slow_consumers"`
}

// Traffic counts messages and bytes, headers and payload, in one direction.
type Traffic struct {
	Msgs     uint64  `json:"msgs"`
	Bytes    uint64  `json:"bytes"`
	Gateways Portion `json:"gateways"`
	Routes   Portion `json:"routes"`
	Leafs    Portion `json:"leafs"`
}

// Portion is a part of a Traffic.
type Portion struct {
	Msgs  uint64 `json:"msgs"`
	Bytes uint64 `json:"bytes"`
}
