package monitor

import (
	"fmt"
	"net/url"
	"testing"
)

func TestFromQuery(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"connz", "", fmt.Sprintf("%+v", ConnzOptions{})},
		{"connz", "filter_subject=a", fmt.Sprintf("%+v", ConnzOptions{})},
		{"connz", "sort=subs&auth=1&subs=detail&state=ANY&limit=5&offset=6&cid=7&user=u&acc=A&filter_subject=a.>&other=x", fmt.Sprintf("%+v", ConnzOptions{
			Sort: "subs", Auth: true, Subscriptions: true, Details: true, State: All, Limit: 5, Offset: 6, CID: 7, User: "u", Account: "A", FilterSubject: "a.>"})},
		{"connz", "subs=true&state=closed", fmt.Sprintf("%+v", ConnzOptions{Subscriptions: true, State: Closed})},
		{"connz", "state=x", "Error decoding state for x"},
		{"connz", "subs=x", `Error decoding boolean for 'subs': strconv.ParseBool: parsing "x": invalid syntax`},
		{"connz", "cid=-1", `Error decoding uint64 for 'cid': strconv.ParseUint: parsing "-1": invalid syntax`},
		{"connz", "offset=9223372036854775808", `Error decoding int for 'offset': strconv.Atoi: parsing "9223372036854775808": value out of range`},
		{"subsz", "subs=1&test=a&acc=A&offset=1&limit=2", fmt.Sprintf("%+v", SubszOptions{Offset: 1, Limit: 2, Subscriptions: true, Account: "A", Test: "a"})},
		{"subscriptionsz", "subs=detail", `Error decoding boolean for 'subs': strconv.ParseBool: parsing "detail": invalid syntax`},
		{"routez", "subs=detail", "{Subscriptions:true Details:true}"},
		{"routez", "subs=DETAIL", "{Subscriptions:true Details:true}"},
		{"gatewayz", "gw_name=g&accs=1&acc_name=a", "{Name:g Accounts:true Account:a Subscriptions:false Details:false}"},
		{"leafz", "subs=1&acc=A", "{Subscriptions:true Account:A}"},
		{"accountz", "acc=A", "{Account:A}"},
		{"accstatz", "unused=1", "{Accounts:[] Unused:true}"},
		{"jsz", "acc=A&accounts=1&streams=1&consumers=1&config=1&leader-only=1&limit=3", fmt.Sprintf("%+v", JszOptions{
			Account: "A", Accounts: true, Streams: true, Consumer: true, Config: true, LeaderOnly: true, Limit: 3})},
		{"healthz", "js-enabled-only=true&details=1", fmt.Sprintf("%+v", HealthzOptions{JSEnabledOnly: true, Details: true})},
		{"healthz", "js-server-only=x", `Error decoding boolean for 'js-server-only': strconv.ParseBool: parsing "x": invalid syntax`},
		{"raftz", "acc=A&group=g", "{Account:A Group:g}"},
		{"varz", "x=y", "{}"},
		{"nothing", "", "there is no nothing"},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(FromQuery(c.name, q)); got != c.want {
			t.Errorf("%s?%s: %s, want %s", c.name, c.query, got, c.want)
		}
	}
}

func TestFromJSON(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"CONNZ", "", fmt.Sprintf("%+v", ConnzOptions{})},
		{"CONNZ", `{"sort":"cid","auth":true,"subscriptions":true,"subscriptions_detail":true,"offset":1,"limit":2,"cid":3,"state":1,"user":"u","acc":"A","filter_subject":"a"}`,
			fmt.Sprintf("%+v", ConnzOptions{Sort: "cid", Auth: true, Subscriptions: true, Details: true, Offset: 1, Limit: 2, CID: 3, State: Closed, User: "u", Account: "A", FilterSubject: "a"})},
		{"CONNZ", `{"state":"any"}`, fmt.Sprintf("%+v", ConnzOptions{State: All})},
		{"SUBSZ", `{"subscriptions":true,"account":"A","test":"a","limit":1}`, fmt.Sprintf("%+v", SubszOptions{Subscriptions: true, Account: "A", Test: "a", Limit: 1})},
		{"ACCSTATZ", `{"accounts":["A"],"include_unused":true}`, "{Accounts:[A] Unused:true}"},
		{"HEALTHZ", `{"js-enabled-only":true,"stream":"s"}`, fmt.Sprintf("%+v", HealthzOptions{JSEnabledOnly: true, Stream: "s"})},
		{"VARZ", "xx", "invalid character 'x' looking for beginning of value"},
		{"NOTHING", "", "there is no NOTHING"},
	} {
		if got := shown(FromJSON(c.name, []byte(c.body))); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.body, got, c.want)
		}
	}
	if !Known("CONNZ") || Known("NOTHING") {
		t.Error("what is known is not")
	}
}

func shown(q Question, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", q)
}

func TestWrongOptions(t *testing.T) {
	for want, err := range map[string]error{ //natsd:orderfree each stands alone
		"invalid sorting option: x":                                 (&ConnzOptions{Sort: "x"}).Check(),
		"sort by stop only valid on closed connections":             (&ConnzOptions{Sort: "stop", State: All}).Check(),
		"filter by subject only valid with account filtering":       (&ConnzOptions{FilterSubject: "a"}).Check(),
		"invalid test subject, must be valid publish subject: a..b": (&SubszOptions{Test: "a..b"}).Check(),
		`"account" must not be empty when checking stream health`:   (&HealthzOptions{Stream: "s"}).Check(),
		`"stream" must not be empty when checking consumer health`:  (&HealthzOptions{Consumer: "c"}).Check(),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHealthz(t *testing.T) {
	why := []Reason{{Type: "CONNECTION", Error: "closed"}}
	more := append(why, Reason{Type: "reload", Error: "later"})
	for _, c := range []struct {
		o    HealthzOptions
		why  []Reason
		want string
	}{
		{HealthzOptions{}, nil, "{Status:ok Code:200 Error: Errors:[]}"},
		{HealthzOptions{}, why, "{Status:error Code:500 Error:closed Errors:[]}"},
		{HealthzOptions{Details: true}, why, "{Status:error Code:500 Error: Errors:[{Type:CONNECTION Account: Stream: Consumer: Error:closed}]}"},
		{HealthzOptions{}, more[1:], "{Status:unavailable Code:503 Error:later Errors:[]}"},
		{HealthzOptions{Stream: "s"}, nil, `{Status:error Code:400 Error:"account" must not be empty when checking stream health Errors:[]}`},
	} {
		if got := fmt.Sprintf("%+v", *NewHealthz(c.o, c.why)); got != c.want {
			t.Errorf("%+v %v: %s", c.o, c.why, got)
		}
	}
	if h := NewHealthz(HealthzOptions{}, more); len(h.Errors) != 2 || h.OK() {
		t.Errorf("%+v", h)
	}
}
