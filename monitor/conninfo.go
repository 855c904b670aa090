package monitor

import "time"

// globalAccount is where clients are that were not put anywhere else. nats-server does not name it as an account.
const globalAccount = "$G"

// connInfo is the JSON of one connection.
type connInfo struct {
	CID          uint64      `json:"cid"`
	Kind         string      `json:"kind"`
	Type         string      `json:"type"`
	IP           string      `json:"ip"`
	Port         int         `json:"port"`
	Start        time.Time   `json:"start"`
	LastActivity time.Time   `json:"last_activity"`
	Stop         *time.Time  `json:"stop,omitempty"`
	Reason       string      `json:"reason,omitempty"`
	RTT          string      `json:"rtt"`
	Uptime       string      `json:"uptime"`
	Idle         string      `json:"idle"`
	Pending      int         `json:"pending_bytes"`
	InMsgs       uint64      `json:"in_msgs"`
	OutMsgs      uint64      `json:"out_msgs"`
	InBytes      uint64      `json:"in_bytes"`
	OutBytes     uint64      `json:"out_bytes"`
	Stalls       uint64      `json:"stalls,omitempty"`
	NumSubs      int         `json:"subscriptions"`
	Name         string      `json:"name,omitempty"`
	Lang         string      `json:"lang,omitempty"`
	Version      string      `json:"version,omitempty"`
	TLSVersion   string      `json:"tls_version,omitempty"`
	TLSCipher    string      `json:"tls_cipher_suite,omitempty"`
	TLSPeer      []Cert      `json:"tls_peer_certs,omitempty"`
	TLSFirst     bool        `json:"tls_first,omitempty"`
	User         string      `json:"authorized_user,omitempty"`
	Account      string      `json:"account,omitempty"`
	Subs         []string    `json:"subscriptions_list,omitempty"`
	SubsDetail   []subDetail `json:"subscriptions_list_detail,omitempty"`
	JWT          string      `json:"jwt,omitempty"`
	IssuerKey    string      `json:"issuer_key,omitempty"`
	NameTag      string      `json:"name_tag,omitempty"` // the account's name, whichever it is
	Tags         []string    `json:"tags,omitempty"`
	Proxy        *proxyInfo  `json:"proxy,omitempty"`
}

// proxyInfo is the trusted proxy through which a client came.
type proxyInfo struct {
	Key string `json:"key"`
}

func (c *Conn) row(o *ConnzOptions) connInfo {
	row := connInfo{
		CID: c.CID, Kind: "Client", Type: "nats", IP: c.IP, Port: c.Port, Start: Stamp(c.Start),
		LastActivity: Stamp(c.LastActivity), Reason: c.Reason, RTT: c.RTT.String(), Uptime: Uptime(c.Uptime), Idle: Uptime(c.Idle),
		Pending: c.Pending, InMsgs: c.InMsgs, OutMsgs: c.OutMsgs, InBytes: c.InBytes, OutBytes: c.OutBytes, Stalls: c.Stalls,
		NumSubs: c.NumSubs, Name: c.Name, Lang: c.Lang, Version: c.Version,
	}
	if t := c.TLS; t != nil {
		row.TLSVersion, row.TLSCipher, row.TLSFirst = t.Version, t.CipherSuite, t.First
		if o.Auth && c.Stop == 0 { // nats-server forgets the certificates of those that have gone
			row.TLSPeer = t.Peer
		}
	}
	if o.Auth {
		row.User, row.NameTag, row.JWT, row.IssuerKey, row.Tags = c.User, c.NameTag, c.JWT, c.IssuerKey, c.Tags
		if c.Account != globalAccount {
			row.Account = c.Account
		}
	}
	if c.Proxy != "" {
		row.Proxy = &proxyInfo{c.Proxy}
	}
	if c.Stop != 0 {
		t := Stamp(c.Stop)
		row.Stop = &t
	}
	c.listSubs(o, &row)
	return row
}

func (c *Conn) listSubs(o *ConnzOptions, row *connInfo) {
	if !o.Lists() {
		return // a closed one has them whether they are asked for or not
	}
	seen := make(map[string]bool, c.Subs.Len())
	for s := range c.Subs.All() {
		if seen[s.SID] {
			continue // listed again because others ended meanwhile
		}
		seen[s.SID] = true
		if o.Details {
			row.SubsDetail = append(row.SubsDetail, s.detail(c.Stop != 0))
		} else {
			row.Subs = append(row.Subs, s.Subject)
		}
	}
}
