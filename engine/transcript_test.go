package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/internal/transcript"
)

// The transcripts of testdata/protocol are what nats-server answered to the same bytes, with natsd's deliberate
// differences written beside. Here they are played on a simulated network and clock.
func TestProtocolTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/protocol/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scenarios, err := transcript.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range scenarios {
			for _, piece := range []int{0, 1, 3} {
				sc := &scenarios[i]
				if piece != 0 && sc.Whole {
					continue
				}
				t.Run(filepath.Base(file)+"/"+sc.Name+"/"+strconv.Itoa(piece), func(t *testing.T) {
					if _, err := transcript.Run(sc, newTranscriptWorld(t, sc), piece); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// transcriptWorld is one engine and its clients. Everything happens at once, and time passes only in Advance.
type transcriptWorld struct {
	*fakeWorld
	e     *Engine
	peers map[ConnID]*transcriptPeer
}

type transcriptPeer struct {
	w      *transcriptWorld
	id     ConnID
	window int
	in     []byte // received, not read
	owed   bool   // a Send was cut short
	fin    bool   // the server ended its direction, or all
	gone   bool   // the connection is closed
}

func newTranscriptWorld(t *testing.T, sc *transcript.Scenario) *transcriptWorld {
	w := &transcriptWorld{fakeWorld: newFakeWorld(), peers: map[ConnID]*transcriptPeer{}}
	env := w.env()
	env.Network, env.Clock = w, w
	o := Options{Host: "127.0.0.1", Check: true, GoVersion: "go1.26.8", NatsdVersion: "test"}
	for _, s := range sc.Config {
		applySetting(t, &o, s.Key, s.Value)
	}
	if sc.Conf != "" {
		takeConf(t, &o, sc.Conf)
	}
	w.e = New(o, env)
	turn(w.e, w.e.Start)
	turn(w.e, func() { w.e.ListenerUp(clientListener, 4222) })
	return w
}

// takeConf reads the text of a configuration file over o.
func takeConf(t *testing.T, o *Options, text string) {
	t.Helper()
	r := &conf.Reader{
		Read: func(string) ([]byte, error) { return []byte(text), nil },
		Join: func(_, name string) string { return name },
		Env:  func(string) (string, bool) { return "", false },
	}
	var rep conf.Report
	c := config.Load(r, "scenario", &rep)
	if err := rep.Err(); err != nil {
		t.Fatal(err)
	}
	host := o.Host
	o.FromConfig(c)
	o.Host = host
	for _, err := range append(CheckAccounts(o.Accounts, o.SystemAccount), CheckUsers(o)...) {
		t.Fatal(err)
	}
}

func applySetting(t *testing.T, o *Options, key, value string) {
	t.Helper()
	n, _ := strconv.Atoi(value)       // used only
	d, _ := time.ParseDuration(value) // where it is one
	switch key {
	case "server_name":
		o.ServerName = value
	case "client_advertise":
		o.ClientAdvertise = value
	case "max_payload":
		o.MaxPayload = n
	case "max_control_line":
		o.MaxControlLine = n
	case "max_connections":
		o.MaxConnections = n
	case "max_subscriptions":
		o.MaxSubscriptions = n
	case "max_sub_tokens":
		o.MaxSubTokens = n
	case "max_pending":
		o.MaxPending = n
	case "write_deadline":
		o.WriteDeadline = d
	case "ping_interval":
		o.PingInterval = d
	case "ping_max":
		o.PingMax = n
	case "no_header_support":
		o.NoHeaders = value == "true"
	case "lame_duck_duration":
		o.LameDuckDuration = d
	case "lame_duck_grace_period":
		o.LameDuckGrace = d
	case "user":
		o.User = value
	case "pass":
		o.Pass = value
	case "token":
		o.Token = value
	case "auth_timeout":
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		o.AuthTimeout = time.Duration(f * float64(time.Second))
	case "nkey":
		o.Users = []config.User{{NKey: value}}
	default:
		t.Fatalf("the setting %s is unknown", key)
	}
}

func (w *transcriptWorld) turn(f func()) {
	turn(w.e, f)
	w.settle()
}

// settle runs turns until nothing is due at this moment.
func (w *transcriptWorld) settle() {
	for w.wake <= w.now || len(w.jobs) > 0 {
		var done []JobID
		for id := JobID(1); len(w.jobs) > 0; id++ {
			if run := w.jobs[id]; run != nil {
				run()
				delete(w.jobs, id)
				done = append(done, id)
			}
		}
		w.wake = Never
		turn(w.e, func() {
			for _, id := range done {
				w.e.JobDone(id)
			}
			w.e.TimerDue()
		})
	}
}

func (w *transcriptWorld) Send(id ConnID, bufs [][]byte) int {
	p, n := w.peers[id], 0
	if p == nil {
		return 0
	}
	for _, b := range bufs {
		if room := p.window - len(p.in); len(b) > room {
			p.in, p.owed = append(p.in, b[:room]...), true
			return n + room
		}
		p.in = append(p.in, b...)
		n += len(b)
	}
	return n
}

func (w *transcriptWorld) CloseWrite(id ConnID) { w.peers[id].fin = true }
func (w *transcriptWorld) Close(id ConnID) {
	if p := w.peers[id]; p != nil {
		p.fin, p.gone = true, true
	}
}

func (w *transcriptWorld) Dial(window int) (transcript.Peer, bool) {
	if w.e.duck.on || w.e.state != stateReady {
		return nil, false
	}
	if window == 0 {
		window = 1 << 20
	}
	p := &transcriptPeer{w: w, window: window}
	turn(w.e, func() {
		p.id = w.e.Accepted(clientListener, ConnInfo{IP: "127.0.0.1", Port: 5})
		w.peers[p.id] = p
	})
	w.settle()
	return p, true
}

func (w *transcriptWorld) Advance(d time.Duration) {
	end := w.now + Instant(d)
	for w.wake <= end {
		w.now = max(w.now, w.wake)
		w.wake = Never
		w.turn(w.e.TimerDue)
	}
	w.now = end
}

func (w *transcriptWorld) Signal(name string) {
	if name == "USR2" {
		w.turn(w.e.LameDuck)
	} else {
		w.turn(w.e.Stop)
	}
}

func (w *transcriptWorld) Exited() (int, bool) {
	w.Advance(lingerTime) // clients that don't close are not waited for longer
	return 0, w.e.Stopped()
}

func (p *transcriptPeer) Send(data []byte) {
	if p.gone {
		return
	}
	p.w.turn(func() { p.w.e.Received(p.id, data) })
}

func (p *transcriptPeer) Receive(bool) (data []byte, ended bool) {
	data, p.in = p.in, nil
	if p.owed && !p.gone {
		p.owed = false
		p.w.turn(func() { p.w.e.Writable(p.id) })
	}
	return data, p.fin && len(p.in) == 0
}

func (p *transcriptPeer) CloseWrite() {
	if !p.gone {
		p.w.turn(func() { p.w.e.EOF(p.id) })
	}
}

func (p *transcriptPeer) Close() {
	if !p.gone {
		p.gone = true
		p.w.turn(func() { p.w.e.Closed(p.id, "") })
	}
}
