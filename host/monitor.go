package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
)

// answers joins monitoring queries, asked by HTTP handlers on other threads, with the engine's answers.
type answers struct {
	mu      sync.Mutex
	last    engine.QueryID
	waiting map[engine.QueryID]chan any
}

// Answer implements engine.Monitor.
func (a *answers) Answer(id engine.QueryID, answer any) {
	a.mu.Lock()
	ch := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if ch != nil {
		ch <- answer // has room for one
	}
}

var errStopped = errors.New("the server has stopped")

// query asks the engine and waits.
func (s *Server) query(ctx context.Context, ask func(e *engine.Engine, id engine.QueryID)) (any, error) {
	ch := make(chan any, 1)
	s.answers.mu.Lock()
	s.answers.last++
	id := s.answers.last
	s.answers.waiting[id] = ch
	s.answers.mu.Unlock()
	s.post(func(e *engine.Engine) { ask(e, id) })
	select {
	case a := <-ch:
		return a, nil
	case <-s.done:
		return nil, errStopped
	case <-ctx.Done():
		s.answers.mu.Lock()
		delete(s.answers.waiting, id)
		s.answers.mu.Unlock()
		return nil, ctx.Err()
	}
}

// Monitoring serves a running Server's state over HTTP: /varz, /connz, /subsz and /healthz, as nats-server does.
type Monitoring struct {
	s      *Server
	slots  chan struct{} // has a place for each answer that is being made
	ln     net.Listener
	host   string // as asked for
	http   *http.Server
	mu     sync.Mutex
	counts map[string]int
	usage  usage
}

// answersMax is how many answers are made at a time: each may hold a copy of all connections or subscriptions. Who asks while
// so many are being made waits.
const answersMax = 4

// Monitor opens addr ("host:port") and serves until Close.
func (s *Server) Monitor(addr string) (*Monitoring, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the monitoring port can't be opened: %w", err)
	}
	host, _, _ := net.SplitHostPort(addr) // it has just been listened on
	m := &Monitoring{s: s, slots: make(chan struct{}, answersMax), ln: ln, host: host, counts: map[string]int{}}
	mux := http.NewServeMux()
	for path, h := range map[string]func(*http.Request) (any, error){
		"/varz": m.varz, "/connz": m.connz, "/subsz": m.subsz, "/subscriptionsz": m.subsz,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { m.serve(path, w, r, h) })
	}
	mux.HandleFunc("/healthz", m.healthz)
	mux.HandleFunc("/{$}", m.index)
	m.http = &http.Server{
		Handler: mux, MaxHeaderBytes: 64 << 10,
		// A peer that sends or reads too slowly is not waited for: requests have no body, and answers are small.
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // what bad requests provoke would go to standard error
	}
	go m.http.Serve(ln) //nolint:errcheck // ends with ErrServerClosed
	return m, nil
}

// Port is the port it listens on.
func (m *Monitoring) Port() int { return m.ln.Addr().(*net.TCPAddr).Port }

// Close stops serving.
func (m *Monitoring) Close() { m.http.Close() }

func (m *Monitoring) count(path string) {
	m.mu.Lock()
	m.counts[path]++
	m.mu.Unlock()
}

func (m *Monitoring) serve(path string, w http.ResponseWriter, r *http.Request, h func(*http.Request) (any, error)) {
	m.count(path)
	body, err := m.answer(r, h)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, context.Canceled) || errors.Is(err, errStopped) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), status)
		return
	}
	writeJSON(w, http.StatusOK, body)
}

// answer makes the JSON that h answers with, when its turn has come.
func (m *Monitoring) answer(r *http.Request, h func(*http.Request) (any, error)) ([]byte, error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	v, err := h(r)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(v, "", "  ")
}

// writeJSON writes an answer. (There is no JSONP: nats-server 2.15 has none either.)
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone: nobody to tell
}

func (m *Monitoring) index(w http.ResponseWriter, r *http.Request) {
	m.count("/")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html><html lang="en"><title>natsd</title><h1>natsd</h1><ul>`)
	for _, p := range []string{"varz", "connz", "subsz", "healthz"} {
		fmt.Fprintf(w, `<li><a href="./%s">%s</a></li>`, p, p)
	}
	fmt.Fprint(w, `</ul></html>`)
}

func (m *Monitoring) healthz(w http.ResponseWriter, r *http.Request) {
	m.count("/healthz")
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryHealthz(id) })
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error,omitempty"`
	}{Status: "ok"}
	status := http.StatusOK
	if err != nil {
		answer.Status, answer.Error, status = "unavailable", err.Error(), http.StatusServiceUnavailable
	} else if h := a.(*engine.Healthz); !h.OK {
		answer.Status, answer.Error, status = "unavailable", h.Reason, http.StatusServiceUnavailable
	}
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, status, body)
}
