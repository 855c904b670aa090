package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
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

// Bodies of answers are made by fewer threads than there are processors, so that the loop has one.
func TestBodiesAreMadeBesideTheLoop(t *testing.T) {
	s, m := monitored(t)
	var making, most atomic.Int32
	var wg sync.WaitGroup
	for range 3 * answersMax {
		wg.Go(func() {
			err := m.answer(httptest.NewRequest("GET", "/varz", nil), monitor.VarzOptions{}, func(any) error {
				if n := making.Add(1); n > most.Load() {
					most.Store(n)
				}
				runtime.Gosched()
				making.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := int(most.Load()); n > besides(s.opts.processors()) {
		t.Errorf("%d at a time", n)
	}
	broken := func() (v any) {
		defer func() { v = recover() }()
		return m.answer(httptest.NewRequest("GET", "/varz", nil), monitor.VarzOptions{}, func(any) error { panic("broken") })
	}
	if v := broken(); v != "broken" || len(m.bodies) != 0 {
		t.Errorf("a body that can't be made: %v, %d places taken", v, len(m.bodies))
	}
}

// unread is the connection of a client that reads nothing of the answer until the channel is closed.
type unread struct {
	httptest.ResponseRecorder
	answered chan<- string
	page     string
	goOn     <-chan struct{}
}

func (u *unread) Write(b []byte) (int, error) {
	select {
	case u.answered <- u.page:
	case <-u.goOn: // nobody wants to know any more
	}
	<-u.goOn
	return len(b), nil
}

func (u *unread) WriteString(s string) (int, error) { return u.Write([]byte(s)) }

// Who doesn't read the answers of a page, or of all of them, holds nobody up.
func TestSlowReadersHoldNobodyUp(t *testing.T) {
	_, m := monitored(t)
	pages := []string{"healthz", "healthz/live", "metrics", "expvarz", "debug/vars", "stacksz", "ipqueuesz", ""}
	pages = append(pages, questions...)
	answered, goOn := make(chan string), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(goOn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // this long only where somebody is held up
	defer cancel()
	for _, page := range pages {
		for range answersMax + 1 {
			wg.Go(func() {
				r := httptest.NewRequestWithContext(ctx, "GET", "/"+page, nil)
				m.http.Handler.ServeHTTP(&unread{answered: answered, page: page, goOn: goOn}, r)
			})
			select {
			case <-answered:
			case <-ctx.Done():
				t.Fatalf("/%s is not answered while others don't read", page)
			}
		}
	}
	for _, page := range pages {
		w := httptest.NewRecorder()
		m.http.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/"+page, nil))
		if w.Code == http.StatusServiceUnavailable || w.Body.Len() == 0 {
			t.Errorf("/%s: %d %q", page, w.Code, w.Body)
		}
	}
}

// Whoever goes away while others' bodies are made gives up the place.
func TestWhoGoesAwayLeaves(t *testing.T) {
	_, m := monitored(t)
	for range cap(m.bodies) {
		m.bodies <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := m.makeBody(ctx, &monitor.Varz{}, func(any) error {
		t.Error("a body is made for nobody")
		return nil
	})
	if !errors.Is(err, context.Canceled) || len(m.bodies) != cap(m.bodies) {
		t.Errorf("%v, %d places taken", err, len(m.bodies))
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

// Questions about connections count where they can be read; those about subscriptions count as one page.
func TestRequestsAreCountedByPage(t *testing.T) {
	s, m := monitored(t)
	for _, path := range []string{"connz?subs=x", "connz", "subsz?subs=x", "subscriptionsz", "accountz"} {
		r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", m.Port(), path))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	got := s.process.p.Requests
	want := map[string]uint64{"/connz": 1, "/subsz": 2, "/accountz": 1}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}
