package wire

import (
	"bytes"
	"encoding/json"
)

// Connect holds a client's options. A second CONNECT is read over the first: what it leaves out keeps its value.
type Connect struct {
	Verbose      bool   `json:"verbose"`
	Pedantic     bool   `json:"pedantic"`
	TLSRequired  bool   `json:"tls_required"`
	Nkey         string `json:"nkey"`
	JWT          string `json:"jwt"`
	Sig          string `json:"sig"`
	Token        string `json:"auth_token"`
	User         string `json:"user"`
	Pass         string `json:"pass"`
	Name         string `json:"name"`
	Lang         string `json:"lang"`
	Version      string `json:"version"`
	Protocol     int    `json:"protocol"`
	Account      string `json:"account"`
	AccountNew   bool   `json:"new_account"`
	Headers      bool   `json:"headers"`
	NoResponders bool   `json:"no_responders"`
	Echo         bool   `json:"echo"`
	ProxySig     string `json:"proxy_sig"` // of the nonce, by a proxy that the client came through

	// What only servers send; a client's must have the right type all the same.
	Import *struct{} `json:"import"`
	Export *struct{} `json:"export"`
}

// DefaultConnect is what holds for a client before its CONNECT.
func DefaultConnect() Connect { return Connect{Verbose: true, Pedantic: true, Echo: true} }

// Parse reads the JSON of a CONNECT over c. Keys match in any letter case, unknown ones are ignored. On an error c is
// unchanged.
func (c *Connect) Parse(arg []byte) error {
	next := *c
	if err := json.Unmarshal(bytes.TrimSpace(arg), &next); err != nil {
		return err
	}
	*c = next
	return nil
}
