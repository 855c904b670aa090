package wire

import "encoding/json"

// Info is what a server tells a client in INFO. Field names and order are nats-server's.
type Info struct {
	ServerID      string   `json:"server_id"`
	ServerName    string   `json:"server_name"`
	Version       string   `json:"version"` // the compatible nats-server version: clients switch features on it
	Proto         int      `json:"proto"`
	GitCommit     string   `json:"git_commit,omitempty"`
	GoVersion     string   `json:"go"`
	Host          string   `json:"host"`
	Port          int      `json:"port"`
	Headers       bool     `json:"headers"`
	AuthRequired  bool     `json:"auth_required,omitempty"`
	TLSRequired   bool     `json:"tls_required,omitempty"`
	TLSVerify     bool     `json:"tls_verify,omitempty"`
	TLSAvailable  bool     `json:"tls_available,omitempty"`
	MaxPayload    int      `json:"max_payload"` // bytes
	JetStream     bool     `json:"jetstream,omitempty"`
	ClientID      uint64   `json:"client_id,omitempty"`
	ClientIP      string   `json:"client_ip,omitempty"`
	Nonce         string   `json:"nonce,omitempty"`
	Cluster       string   `json:"cluster,omitempty"`
	Domain        string   `json:"domain,omitempty"`
	ConnectURLs   []string `json:"connect_urls,omitempty"`
	WSConnectURLs []string `json:"ws_connect_urls,omitempty"`
	LameDuckMode  bool     `json:"ldm,omitempty"`
	ConnectInfo   bool     `json:"connect_info,omitempty"`
	RemoteAccount string   `json:"remote_account,omitempty"`
	IsSystem      bool     `json:"acc_is_sys,omitempty"`
	APILevel      int      `json:"api_lvl,omitempty"`
	XKey          string   `json:"xkey,omitempty"`
	// Natsd is natsd's own version, beside the compatible one.
	Natsd string `json:"natsd,omitempty"`
}

// AppendInfo appends the INFO line. The JSON is followed by a space, as clients of nats-server are used to.
func AppendInfo(dst []byte, info *Info) []byte {
	text, err := json.Marshal(info)
	if err != nil {
		panic("wire: INFO can't be encoded: " + err.Error()) // strings, numbers and bools always can
	}
	dst = append(dst, "INFO "...)
	dst = append(dst, text...)
	return append(dst, " \r\n"...)
}
