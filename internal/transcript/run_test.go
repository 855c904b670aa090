package transcript

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// script is a world whose server answers each complete line by a fixed text.
type script struct {
	refuse  bool
	status  int
	exited  bool
	elapsed time.Duration
	peers   []*scriptPeer
}

type scriptPeer struct {
	world *script
	in    []byte
	out   []byte
	ended bool
	sends int
}

func (w *script) Dial(int) (Peer, bool) {
	if w.refuse {
		return nil, false
	}
	p := &scriptPeer{world: w, out: []byte("INFO {} \r\n")}
	w.peers = append(w.peers, p)
	return p, true
}

func (w *script) Advance(d time.Duration) { w.elapsed += d }

func (w *script) Signal(string) { w.exited = true }

func (w *script) Exited() (int, bool) { return w.status, w.exited }

func (p *scriptPeer) Send(data []byte) {
	p.sends++
	p.in = append(p.in, data...)
	for {
		end := bytes.IndexByte(p.in, '\n')
		if end < 0 || p.ended {
			return
		}
		line := string(p.in[:end+1])
		p.in = p.in[end+1:]
		p.ended = line == "QUIT\r\n"
		p.out = append(p.out, answer(line)...)
	}
}

// Receive hands out one byte at a time, so that every expectation is met in parts.
func (p *scriptPeer) Receive(bool) ([]byte, bool) {
	if len(p.out) == 0 {
		return nil, p.ended
	}
	data := p.out[:1]
	p.out = p.out[1:]
	return data, false
}

func (p *scriptPeer) CloseWrite() { p.ended = true }

func (p *scriptPeer) Close() { p.ended = true }

func answer(line string) string {
	switch line {
	case "PING\r\n":
		return "PONG\r\n"
	case "TWO\r\n":
		return "a\r\nb\r\n"
	case "QUIT\r\n":
		return "bye\r\n"
	case "HALF\r\n":
		return "PO"
	}
	return ""
}

func TestRunJudges(t *testing.T) {
	for _, test := range []struct {
		steps string
		fails string // part of the error; empty: none
	}{
		{"A> \"PING\\r\\n\"\nA< \"PONG\\r\\n\"\nA silent", ""},
		{"A> \"PING\\r\\n\"\nA< \"PONX\\r\\n\"", "f:4: s: received"},
		{"A> \"HALF\\r\\n\"\nA< \"PONG\\r\\n\"", "received only \"PO\""},
		{"A> \"PING\\r\\n\"\nA<~ P.NG", ""},
		{"A> \"PING\\r\\n\"\nA<~ P.N", "received"},
		{"A> \"TWO\\r\\n\"\nA<all \"b\\r\\n\" | \"a\\r\\n\"", ""},
		{"A> \"TWO\\r\\n\"\nA<all \"b\\r\\n\" | \"b\\r\\n\"", "received"},
		{"A> \"TWO\\r\\n\"\nA<one \"b\\r\\n\" | \"a\\r\\n\"\nA< \"b\\r\\n\"", ""},
		{"A> \"TWO\\r\\n\"\nA<one \"b\\r\\n\" | \"c\\r\\n\"", "received"},
		{"A> \"QUIT\\r\\n\"\nA< \"bye\\r\\n\"\nA closed", ""},
		{"A> \"QUIT\\r\\n\"\nA closed", "not closed yet"},
		{"A> \"QUIT\\r\\n\"\nA cut", ""},
		{"A> \"QUIT\\r\\n\"\nA< \"bye\\r\\n\"\nA silent", "was closed"},
		{"A> \"QUIT\\r\\n\"\nA< \"bye\\r\\nmore\"", "closed after"},
		{"A closed", "stays open"},
		{"A cut", "stays open"},
		{"A> \"PING\\r\\n\"\nA silent", "received"},
		{"A half-close\nA closed", ""},
		{"natsd: A> \"PING\\r\\n\"\nnats-server: A< \"no\"\nA< \"PONG\\r\\n\"", ""},
		{"signal TERM\nexit 0", ""},
		{"signal TERM\nexit 1", "status 0"},
		{"exit 0", "goes on"},
		{"refused B", "accepted"},
		{"advance 2s\ndial B\nB< \"INFO {} \\r\\n\"", ""},
	} {
		scenarios, err := Parse("f", []byte("scenario s\nconn A\n"+test.steps+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{0, 1, 3} {
			_, err := Run(&scenarios[0], &script{}, piece)
			if (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%q in pieces of %d: %v", test.steps, piece, err)
			}
		}
	}
}

func TestRunWantsConnections(t *testing.T) {
	scenarios, err := Parse("f", []byte("scenario s\nconn A\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(&scenarios[0], &script{refuse: true}, 0); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
}

func TestRunRecordsAndCutsSends(t *testing.T) {
	scenarios, err := Parse("f", []byte("scenario s\nconn A\nA> \"TWO\\r\\n\"\nA ?\nA> \"QUIT\\r\\n\"\nA ?\nadvance 3s\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := &script{}
	got, err := Run(&scenarios[0], w, 2)
	if err != nil || len(got) != 2 || string(got[0].Data) != "a\r\nb\r\n" || got[0].Ended || !got[1].Ended || got[1].Line != 6 {
		t.Errorf("recorded %+v, %v", got, err)
	}
	if w.peers[0].sends != 3+3 || w.elapsed != 3*time.Second || !w.peers[0].ended {
		t.Errorf("%d sends, %s, %v", w.peers[0].sends, w.elapsed, w.peers[0].ended)
	}
}
