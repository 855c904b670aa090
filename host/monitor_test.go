package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

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
	m, err := s.Monitor(MonitorOptions{Addr: "127.0.0.1:0"})
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
	m.serve("varz", w, httptest.NewRequestWithContext(ctx, "GET", "/varz", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d for one who gave up", w.Code)
	}
	const clients = 3 * answersMax
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			w := httptest.NewRecorder()
			m.serve("varz", w, httptest.NewRequest("GET", "/varz", nil))
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
	for _, path := range []string{"varz", "connz", "connz?subs=1", "subsz", "healthz", "healthz/live", "metrics", "accountz"} {
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
	if _, err := s.Monitor(MonitorOptions{Addr: fmt.Sprintf("127.0.0.1:%d", m.Port())}); err == nil {
		t.Error("the port is taken twice")
	}
}
