package engine

import "testing"

// However the requester writes its headers, who reads them finds one word on who asks, and it is the server's.
func TestHeaderWithOneKeyMore(t *testing.T) {
	for _, c := range []struct{ block, want string }{
		{"NATS/1.0\r\n\r\n", "NATS/1.0\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nA: b\r\n\r\n", "NATS/1.0\r\nA: b\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nkEY: x\r\nA: b\r\nKey:\r\n\r\n", "NATS/1.0\r\nA: b\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\n Key: x\r\nKey\t: x\r\n\r\n", "NATS/1.0\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nA: b\nKey: x\n\r\n", "NATS/1.0\r\nA: b\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nKeys: x\r\nA: Key: x\r\n\r\n", "NATS/1.0\r\nKeys: x\r\nA: Key: x\r\nKey: v\r\n\r\n"},
		// an end in the middle
		{"NATS/1.0\r\n\r\nA: b\r\n\r\n", "NATS/1.0\r\nKey: v\r\n\r\nA: b\r\n\r\n"},
		{"NATS/1.0\r\n\nA: b\r\n\r\n", "NATS/1.0\r\nKey: v\r\n\nA: b\r\n\r\n"},
		{"NATS/1.0\r\n\r\nKey: x\r\nA", "NATS/1.0\r\nKey: v\r\n\r\nA\r\n\r\n"},
		{"NATS/1.0\r\nA: b\r\n\r\n\r\nKey: x", "NATS/1.0\r\nA: b\r\nKey: v\r\n\r\n\r\n"},
		// no end
		{"NATS/1.0", "NATS/1.0\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nA: b\r\n", "NATS/1.0\r\nA: b\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nA: b", "NATS/1.0\r\nA: b\r\nKey: v\r\n\r\n"},
		{"NATS/1.0\r\nKey:", "NATS/1.0\r\nKey: v\r\n\r\n"},
		// no header block at all
		{"x", "x\r\nKey: v\r\n\r\n"},
		{"\r\n", "\r\nKey: v\r\n\r\n"},
		{"\r\n\r\n", "\r\nKey: v\r\n\r\n"},
	} {
		if got := string(appendHeaderWith([]byte("before "), []byte(c.block), "Key", []byte("v"))); got != "before "+c.want {
			t.Errorf("%q: %q, not %q", c.block, got, c.want)
		}
	}
}
