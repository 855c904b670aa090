package engine

import "testing"

// What clients send that ends their connections, and the reason that monitoring and events give: nats-server's.
func TestReasonsForWhatIsSent(t *testing.T) {
	const hello = "CONNECT {\"headers\":true}\r\n"
	for _, c := range []struct {
		sent string
		want CloseReason
	}{
		{hello + "FOO\r\n", ReasonProtocol},
		{hello + "PUB foo\r\n", ReasonProtocol},
		{hello + "PUB foo -1\r\n", ReasonProtocol},
		{hello + "PUB foo 2\r\nabcdef\r\n", ReasonProtocol},
		{hello + "HPUB foo 20 10\r\n", ReasonProtocol},
		{hello + "SUB a b c d\r\n", ReasonProtocol},
		{hello + "UNSUB\r\n", ReasonProtocol},
		{hello + "CONNECT []\r\n", ReasonProtocol},
		{hello + "INFO {x\r\n", ReasonProtocol},
		{hello + "-ERR x\r\n", ReasonParseError},
		{hello + "PUB foo 2000000\r\n", ReasonMaxPayload},
		{"CONNECT {\"protocol\":2}\r\n", ReasonBadVersion},
		{"CONNECT {\"no_responders\":true}\r\n", ReasonNoHeaders},
		{"CONNECT {}\r\nHPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\n", ReasonProtocol},
	} {
		e, _ := started(t, Options{})
		id := accept(e)
		say(e, id, c.sent)
		turn(e, func() { e.EOF(id) })
		if e.closed.count != 1 {
			t.Errorf("%q: %d connections closed", c.sent, e.closed.count)
		} else if r := CloseReason(e.closed.nth(0).Reason); r != c.want {
			t.Errorf("%q: %s, want %s", c.sent, r, c.want)
		}
	}
}
