package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The page that is asked for is cut out of all, in the order that is asked for; one that was closed meanwhile is there once.
func TestPick(t *testing.T) {
	for _, c := range []struct {
		o    ConnzOptions
		want string
	}{
		{ConnzOptions{}, "[0 1 2 3 4] of 5"},
		{ConnzOptions{Limit: 2}, "[0 1] of 5"},
		{ConnzOptions{Limit: 2, Offset: 4}, "[4] of 5"},
		{ConnzOptions{Offset: 5}, "[] of 5"},
		{ConnzOptions{Offset: 1<<63 - 1, Limit: 1<<63 - 1}, "[] of 5"},
		{ConnzOptions{Offset: -3, Limit: -3}, "[0 1 2 3 4] of 5"},
		{ConnzOptions{Offset: 3, Limit: 1<<63 - 1}, "[3 4] of 5"},
		{ConnzOptions{Sort: "msgs_to", Limit: 3}, "[4 3 2] of 5"},
		{ConnzOptions{Sort: "pending"}, "[0 1 2 3 4] of 5"}, // equal: by cid
		{ConnzOptions{Sort: "nonsense"}, "[] of 6"},
	} {
		a := Connz{Options: c.o, Total: 6}
		for _, cid := range []uint64{3, 1, 4, 0, 2} {
			a.Conns.Add(Conn{CID: cid, OutMsgs: cid})
		}
		a.Conns.Add(Conn{CID: 4, OutMsgs: 4, Stop: 9})
		var got []uint64
		for _, i := range a.Pick() {
			if i.CID == 4 && i.Stop != 9 {
				t.Error("it is not shown as it was last")
			}
			got = append(got, i.CID)
		}
		if s := fmt.Sprint(got, " of ", a.Total); s != c.want {
			t.Errorf("%+v: %s, want %s", c.o, s, c.want)
		}
		if again := a.Pick(); len(again) != len(got) {
			t.Errorf("%+v: the second time %d", c.o, len(again))
		}
	}
}

// A row shows what the options ask for, as nats-server does.
func TestRows(t *testing.T) {
	full := Conn{
		CID: 7, User: "ann", Account: "A", NameTag: "A", RTT: 1500, NumSubs: 2, TLS: &TLS{Version: "1.3", Peer: []Cert{{Subject: "CN=x"}}},
		JWT: "j", IssuerKey: "k", Tags: []string{"t"},
	}
	full.Subs.Add(Sub{Account: "A", Subject: "a", SID: "1", CID: 7})
	full.Subs.Add(Sub{Account: "A", Subject: "b", Queue: "q", SID: "2", Max: 5, CID: 7})
	full.Subs.Add(Sub{Account: "A", Subject: "a", SID: "1", CID: 7}) // found twice
	gone := full
	gone.Stop, gone.Reason = 5, "Client Closed"
	global := full
	global.Account, global.NameTag = "$G", "$G"
	for _, c := range []struct {
		conn     Conn
		o        ConnzOptions
		has, not string
	}{
		{full, ConnzOptions{}, `"rtt":"1.5µs" "tls_version":"1.3" "subscriptions":2`, "ann account CN=x name_tag list jwt stop"},
		{full, ConnzOptions{Auth: true}, `"authorized_user":"ann" "account":"A" "name_tag":"A" "CN=x" "jwt":"j" "issuer_key":"k" "tags":["t"]`, "list stop"},
		{global, ConnzOptions{Auth: true}, `"name_tag":"$G"`, `"account"`},
		{full, ConnzOptions{Subscriptions: true}, `"subscriptions_list":["a","b"]`, "detail"},
		{full, ConnzOptions{Details: true}, `"subscriptions_list_detail":[{"subject":"a" "qgroup":"q" "max":5`, `"account" subscriptions_list"`},
		{gone, ConnzOptions{Details: true, Auth: true}, `{"account":"A","account_tag":"A","subject":"a" "stop":"1970-01-01T00:00:00.000000005Z" "reason":"Client`, "CN=x"},
		{gone, ConnzOptions{}, `"subscriptions":2`, "list"},
	} {
		a := Connz{Options: c.o}
		a.Conns.Add(c.conn)
		body, err := a.Body()
		if err != nil {
			t.Fatal(err)
		}
		b, err := Encode(body)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("\n", "", "  ", "", `": `, `":`).Replace(string(b))
		for _, s := range strings.Fields(c.has) {
			if !strings.Contains(text, s) {
				t.Errorf("%+v: %s is missing in %s", c.o, s, text)
			}
		}
		for _, s := range strings.Fields(c.not) {
			if strings.Contains(text, s) {
				t.Errorf("%+v: %s is in %s", c.o, s, text)
			}
		}
	}
}

func TestUptime(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{ //natsd:orderfree each stands alone
		0: "0s", 59*time.Second + 999*time.Millisecond: "59s", time.Minute: "1m0s", time.Hour: "1h0m0s", day: "1d0h0m0s",
		365 * day: "1y0d0h0m0s", 366*day + time.Hour + time.Minute + time.Second: "1y1d1h1m1s",
	} {
		if got := Uptime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestEveryOrderIsKnown(t *testing.T) {
	small, large := Conn{CID: 1}, Conn{
		CID: 2, Start: 2, NumSubs: 2, Pending: 2, OutMsgs: 2, InMsgs: 2, OutBytes: 2, InBytes: 2, LastActivity: 2, Idle: 2,
		Uptime: 2, RTT: 2, Stop: 2, Reason: "b",
	}
	for name := range orders { //natsd:orderfree each stands alone
		o := ConnzOptions{Sort: name, State: Closed}
		compare, err := o.order()
		if err != nil {
			t.Fatal(err)
		}
		ascending := name == "cid" || name == "start" || name == "uptime" || name == "reason"
		if got := compare(&small, &large); got == 0 || (got < 0) != ascending {
			t.Errorf("%s: %d", name, got)
		}
		if o.State = Open; (o.Check() != nil) != (name == "stop" || name == "reason") {
			t.Errorf("%s of open connections: %v", name, o.Check())
		}
	}
	if (&ConnzOptions{Sort: "size"}).Check() == nil {
		t.Error("an order that there is not")
	}
}
