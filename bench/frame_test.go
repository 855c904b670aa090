package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestScanReadsEachOperation(t *testing.T) {
	cases := []struct {
		in   string
		want frame
	}{
		{"PING\r\n", frame{op: opPing}},
		{"PONG\r\n", frame{op: opPong}},
		{"+OK\r\n", frame{op: opOK}},
		{"INFO {\"a\":1}\r\n", frame{op: opInfo, payload: []byte(`{"a":1}`)}},
		{"-ERR 'Stale Connection'\r\n", frame{op: opErr, payload: []byte("-ERR 'Stale Connection'")}},
		{"MSG a.b 1 0\r\n\r\n", frame{op: opMsg, subject: []byte("a.b"), sid: []byte("1"), payload: []byte{}}},
		{"MSG a 7 2\r\n\r\n\r\n", frame{op: opMsg, subject: []byte("a"), sid: []byte("7"), payload: []byte("\r\n")}},
		{"MSG a 7 r 3\r\nxyz\r\n", frame{op: opMsg, subject: []byte("a"), sid: []byte("7"), reply: []byte("r"), payload: []byte("xyz")}},
	}
	for _, c := range cases {
		got, n, err := scan([]byte(c.in + "rest"))
		if err != nil || n != len(c.in) {
			t.Errorf("scan(%q) = %d bytes, %v", c.in, n, err)
			continue
		}
		if got.op != c.want.op || !bytes.Equal(got.subject, c.want.subject) || !bytes.Equal(got.sid, c.want.sid) ||
			!bytes.Equal(got.reply, c.want.reply) || !bytes.Equal(got.payload, c.want.payload) {
			t.Errorf("scan(%q) = %+v", c.in, got)
		}
		for cut := range len(c.in) {
			if _, n, err := scan([]byte(c.in[:cut])); n != 0 || err != nil {
				t.Errorf("scan(%q) = %d bytes, %v; it should wait for more", c.in[:cut], n, err)
			}
		}
	}
}

func TestScanRefusesWhatNoServerSends(t *testing.T) {
	for _, in := range []string{
		"\n", "PING\n", "ping\r\n", "PUB a 1\r\nx\r\n", "MSG a 1\r\n", "MSG a 1 x\r\n", "MSG a 1 r s 3\r\nxyz\r\n",
		"MSG a 1 3\r\nxyzab", "MSG a 1 9999999999\r\n", "\x00\x00\r\n",
	} {
		if _, n, err := scan([]byte(in)); !errors.Is(err, errFrame) {
			t.Errorf("scan(%q) = %d bytes, %v", in, n, err)
		}
	}
	if _, _, err := scan(make([]byte, controlLineBytesMax+1)); !errors.Is(err, errFrame) {
		t.Errorf("a line without an end: %v", err)
	}
}

func TestScanReturnsEveryMessageOfAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payloads := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 1, 10).Draw(t, "payloads")
		var stream []byte
		for _, p := range payloads {
			stream = fmt.Appendf(stream, "MSG s %s %d\r\n%s\r\n", sidText, len(p), p)
		}
		for _, want := range payloads {
			f, n, err := scan(stream)
			if err != nil || n != deliveredBytes("s", sidText, len(want)) || !bytes.Equal(f.payload, want) {
				t.Fatalf("scan = %d bytes, payload %q, %v; want payload %q", n, f.payload, err, want)
			}
			stream = stream[n:]
		}
		if len(stream) != 0 {
			t.Fatalf("%d bytes left", len(stream))
		}
	})
}

// sidText is some subscription id.
const sidText = "100000"

func FuzzScan(f *testing.F) {
	f.Add([]byte("MSG a 1 3\r\nxyz\r\nPING\r\n"))
	f.Add([]byte("INFO {}\r\n-ERR 'x'\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			_, n, err := scan(b)
			if n < 0 || n > len(b) || err != nil && n != 0 {
				t.Fatalf("scan(%q) = %d bytes, %v", b, n, err)
			}
			if n == 0 {
				return
			}
			b = b[n:]
		}
	})
}
