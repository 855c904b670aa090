package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// monitored starts a server with monitoring.
func monitored(t *testing.T) (*Server, *Monitoring) {
	t.Helper()
	s, err := New(Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1}, Log: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run()
	<-s.Ready()
	m, err := s.Monitor("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		s.Stop()
		<-s.Done()
	})
	return s, m
}

// Whoever asks waits while so many answers are being made, and gets one all the same, or gives up.
func TestAnswersAreMadeAFewAtATime(t *testing.T) {
	_, m := monitored(t)
	for range answersMax {
		m.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	m.serve("/varz", w, httptest.NewRequestWithContext(ctx, "GET", "/varz", nil), m.varz)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d for one who gave up", w.Code)
	}
	const clients = 3 * answersMax
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			w := httptest.NewRecorder()
			m.serve("/varz", w, httptest.NewRequest("GET", "/varz", nil), m.varz)
			if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
	}
	for range answersMax {
		<-m.slots
	}
	wg.Wait()
	if len(m.slots) != 0 {
		t.Errorf("%d places are taken for good", len(m.slots))
	}
}

func TestMonitoringOfAStoppedServer(t *testing.T) {
	s, m := monitored(t)
	s.Stop()
	<-s.Done()
	for _, path := range []string{"varz", "connz", "subsz", "healthz"} {
		r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", m.Port(), path))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable || len(body) == 0 {
			t.Errorf("/%s: %s %q", path, r.Status, body)
		}
	}
}

func TestMonitoringPortInUse(t *testing.T) {
	s, m := monitored(t)
	if _, err := s.Monitor(fmt.Sprintf("127.0.0.1:%d", m.Port())); err == nil {
		t.Error("the port is taken twice")
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		query         string
		offset, limit int
		rows          string // of five
		wrong         bool
	}{
		{"", 0, defaultLimit, "[0 1 2 3 4]", false},
		{"limit=2", 0, 2, "[0 1]", false},
		{"limit=2&offset=4", 4, 2, "[4]", false},
		{"offset=5", 5, defaultLimit, "[]", false},
		{"offset=9223372036854775807&limit=9223372036854775807", 1<<63 - 1, 1<<63 - 1, "[]", false},
		{"offset=-3&limit=-3", 0, defaultLimit, "[0 1 2 3 4]", false},
		{"offset=3&limit=9223372036854775807", 3, 1<<63 - 1, "[3 4]", false},
		{"limit=x", 0, 0, "", true},
		{"offset=9223372036854775808", 0, 0, "", true},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		offset, limit, err := page(q)
		if (err != nil) != c.wrong || offset != c.offset || limit != c.limit {
			t.Errorf("%s: %d, %d, %v", c.query, offset, limit, err)
		}
		if got := fmt.Sprint(slice([]int{0, 1, 2, 3, 4}, offset, limit)); !c.wrong && got != c.rows {
			t.Errorf("%s: %s", c.query, got)
		}
	}
}

func TestUptime(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "0s", 59*time.Second + 999*time.Millisecond: "59s", time.Minute: "1m0s", time.Hour: "1h0m0s", day: "1d0h0m0s",
		365 * day: "1y0d0h0m0s", 366*day + time.Hour + time.Minute + time.Second: "1y1d1h1m1s",
	} {
		if got := uptime(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestEveryOrderIsKnown(t *testing.T) {
	small, large := engine.ConnzInfo{CID: 1}, engine.ConnzInfo{
		CID: 2, Start: 2, NumSubs: 2, Pending: 2, OutMsgs: 2, InMsgs: 2, OutBytes: 2, InBytes: 2, LastActivity: 2, Idle: 2,
		Uptime: 2, RTT: 2, Stop: 2, Reason: "b",
	}
	for name := range orders {
		compare, err := order(name, false)
		if err != nil {
			t.Fatal(err)
		}
		ascending := name == "cid" || name == "start" || name == "reason"
		if got := compare(&small, &large); got == 0 || (got < 0) != ascending {
			t.Errorf("%s: %d", name, got)
		}
		if _, err := order(name, true); (err != nil) != (name == "stop" || name == "reason") {
			t.Errorf("%s of open connections: %v", name, err)
		}
	}
	if _, err := order("size", false); err == nil {
		t.Error("an order that there is not")
	}
}
