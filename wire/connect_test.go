package wire

import (
	"strings"
	"testing"
)

func TestConnect(t *testing.T) {
	c := DefaultConnect()
	if !c.Verbose || !c.Pedantic || !c.Echo || c.Headers || c.NoResponders || c.Protocol != 0 {
		t.Errorf("before a CONNECT: %+v", c)
	}
	first := ` {"verbose":false,"PEDANTIC":false,"user":"me","pass":"secret","auth_token":"t","name":"n","lang":"go","version":"1",` +
		`"protocol":1,"headers":true,"no_responders":true,"echo":false,"nkey":"U","jwt":"j","sig":"s","tls_required":true,` +
		`"account":"A","new_account":true,"import":{},"export":null,"unknown":[1,{"x":2}]}` + "\t"
	if err := c.Parse([]byte(first)); err != nil {
		t.Fatal(err)
	}
	want := Connect{
		User: "me", Pass: "secret", Token: "t", Name: "n", Lang: "go", Version: "1", Protocol: 1, Headers: true, NoResponders: true,
		Nkey: "U", JWT: "j", Sig: "s", TLSRequired: true, Account: "A", AccountNew: true, Import: c.Import,
	}
	if c != want || c.Import == nil {
		t.Errorf("read %+v\nwant %+v", c, want)
	}
	if err := c.Parse([]byte(`{"echo":true,"name":"m"}`)); err != nil {
		t.Fatal(err)
	}
	want.Echo, want.Name = true, "m"
	if c != want {
		t.Errorf("a second CONNECT changed what it does not name: %+v", c)
	}
	if err := c.Parse([]byte(`{}`)); err != nil || c != want {
		t.Errorf("an empty one changed something: %v %+v", err, c)
	}
}

func TestConnectRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "x", "{", `{"verbose":1}`, `{"protocol":"1"}`, `{"name":5}`, `{"import":1}`, `{"name":"a",}`, `[]`, `"x"`, `{}{}`,
		`{"name":"first","verbose":"x"}`, strings.Repeat("[", 20000),
	} {
		c := DefaultConnect()
		if c.Parse([]byte(text)) == nil {
			t.Errorf("%.40q was accepted", text)
		}
		if c != DefaultConnect() {
			t.Errorf("%.40q was refused and changed something: %+v", text, c)
		}
	}
}
