package wire

import "testing"

// Clients parse INFO, but people and scripts read it too: the order of its fields is nats-server's.
func TestAppendInfo(t *testing.T) {
	min := Info{ServerID: "NA", ServerName: "n", Version: "2.15.2", Proto: 1, GoVersion: "go1.26", Host: "0.0.0.0", Port: 4222, Headers: true, MaxPayload: 1 << 20}
	for _, c := range []struct {
		info Info
		want string
	}{
		{min, `INFO {"server_id":"NA","server_name":"n","version":"2.15.2","proto":1,"go":"go1.26","host":"0.0.0.0","port":4222,` +
			`"headers":true,"max_payload":1048576} ` + "\r\n"},
		{
			Info{
				ServerID: "NA", ServerName: "n", Version: "2.15.2", Proto: 1, GitCommit: "abc", GoVersion: "go1.26", Host: "h", Port: 1,
				AuthRequired: true, TLSRequired: true, TLSVerify: true, TLSAvailable: true, MaxPayload: -1, JetStream: true,
				ClientID: 7, ClientIP: "127.0.0.1", Nonce: "x", Cluster: "c", Domain: "d", ConnectURLs: []string{"a:1", "b:2"},
				WSConnectURLs: []string{"w"}, LameDuckMode: true, ConnectInfo: true, RemoteAccount: "$G", IsSystem: true, APILevel: 5,
				XKey: "X", Natsd: "0.1",
			},
			`INFO {"server_id":"NA","server_name":"n","version":"2.15.2","proto":1,"git_commit":"abc","go":"go1.26","host":"h","port":1,` +
				`"headers":false,"auth_required":true,"tls_required":true,"tls_verify":true,"tls_available":true,"max_payload":-1,` +
				`"jetstream":true,"client_id":7,"client_ip":"127.0.0.1","nonce":"x","cluster":"c","domain":"d","connect_urls":["a:1","b:2"],` +
				`"ws_connect_urls":["w"],"ldm":true,"connect_info":true,"remote_account":"$G","acc_is_sys":true,"api_lvl":5,"xkey":"X",` +
				`"natsd":"0.1"} ` + "\r\n",
		},
	} {
		if got := string(AppendInfo([]byte("before "), &c.info)); got != "before "+c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestAppendErr(t *testing.T) {
	if got := string(AppendErr([]byte("x"), ErrParser)); got != "x-ERR 'Parser Error'\r\n" {
		t.Errorf("%q", got)
	}
}

func TestAppendNoResponders(t *testing.T) {
	if got := string(AppendNoResponders(nil, []byte("a.b"))); got != "NATS/1.0 503\r\nNats-Subject: a.b\r\n\r\n" {
		t.Errorf("%q", got)
	}
}
