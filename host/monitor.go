package host

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
)

// answers joins monitoring queries, asked by HTTP handlers on other threads, with the engine's answers.
type answers struct {
	mu      sync.Mutex
	last    engine.QueryID
	waiting map[engine.QueryID]chan monitor.Answer
}

// Answer implements engine.Monitor.
func (a *answers) Answer(id engine.QueryID, answer monitor.Answer) {
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
func (s *Server) query(ctx context.Context, q monitor.Question) (monitor.Answer, error) {
	ch := make(chan monitor.Answer, 1)
	s.answers.mu.Lock()
	s.answers.last++
	id := s.answers.last
	s.answers.waiting[id] = ch
	s.answers.mu.Unlock()
	s.post(func(e *engine.Engine) { e.Ask(id, q) })
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

// MonitorOptions say where and how a server's state is served.
type MonitorOptions struct {
	Addr     string      // "host:port"; port 0: any free one
	TLS      *tls.Config // nil: plain HTTP
	BasePath string      // before the paths of all pages, taken as it stands but for %XX; empty: none
}

// Monitoring serves a running Server's state over HTTP, as nats-server does, and what is natsd's own.
type Monitoring struct {
	s        *Server
	slots    chan struct{} // has a place for each answer that is being made
	bodies   chan struct{} // of these, for each whose body is
	patience time.Duration // answerWait
	unread   *unreadAnswers
	ln       net.Listener
	base     string // before all paths, as requests have it when they are decoded
	http     *http.Server
}

// answersMax is how many answers are made at a time: each may hold a copy of all connections or subscriptions. Who asks while
// so many are being made waits.
const answersMax = 4

// answerWait is how long anybody waits for the turn: the time to write the answer in goes by meanwhile.
const answerWait = 10 * time.Second

var errBusy = errors.New("Too many ask at once")

// Monitor opens an address and serves until Close. It fails where the address can't be listened on. What goes wrong later is its clients'
// to see.
func (s *Server) Monitor(o MonitorOptions) (*Monitoring, error) {
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("the monitoring port can't be opened: %w", err)
	}
	m := &Monitoring{s: s, slots: make(chan struct{}, answersMax), bodies: make(chan struct{}, besides(s.opts.processors())), ln: ln}
	m.patience, m.unread = answerWait, newUnreadAnswers()
	m.base = basePath(o.BasePath)
	mux := http.NewServeMux()
	m.routes(mux)
	m.http = &http.Server{
		Handler: mux, TLSConfig: o.TLS, MaxHeaderBytes: 64 << 10,
		// A peer that sends or reads too slowly is not waited for: requests have no body. What answers hold is bounded by unread.
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // what bad requests provoke would go to standard error
	}
	host, _, _ := net.SplitHostPort(o.Addr) // it has just been listened on
	s.process.listens(host, m.Port(), o.TLS != nil, m.base)
	if o.TLS != nil {
		go m.http.ServeTLS(ln, "", "") //nolint:errcheck // ends with ErrServerClosed
	} else {
		go m.http.Serve(ln) //nolint:errcheck // ends with ErrServerClosed
	}
	return m, nil
}

// questions are the pages that show an answer of the engine.
var questions = []string{
	"varz", "connz", "subsz", "subscriptionsz", "routez", "gatewayz", "leafz", "accountz", "accstatz", "jsz", "raftz", "ipqueuesz",
}

func (m *Monitoring) routes(mux *http.ServeMux) {
	for _, name := range questions {
		m.handle(mux, name, func(w http.ResponseWriter, r *http.Request) { m.serve(name, w, r) })
	}
	for _, aspect := range []monitor.Aspect{monitor.Serving, monitor.Live, monitor.Ready, monitor.Current} {
		m.handle(mux, strings.TrimSuffix("healthz/"+string(aspect), "/"), func(w http.ResponseWriter, r *http.Request) { m.health(aspect, w, r) })
	}
	m.handle(mux, "metrics", m.metrics)
	m.handle(mux, "expvarz", variables)
	m.handle(mux, "debug/vars", variables)
	m.handle(mux, "stacksz", m.stacks)
	m.handle(mux, "", m.index)
}

// handle has a page handled, and counts how often it is asked for.
func (m *Monitoring) handle(mux *http.ServeMux, name string, h http.HandlerFunc) {
	// Escaped, spaces and braces are no methods and wildcards of patterns.
	base := (&url.URL{Path: m.base}).EscapedPath()
	counted := func(w http.ResponseWriter, r *http.Request) {
		switch name {
		case "connz": // where its question can be read
		case "subscriptionsz":
			m.s.process.count("/subsz")
		default:
			m.s.process.count("/" + name)
		}
		h(w, r)
	}
	if name == "" {
		mux.HandleFunc(base+"/{$}", counted)
		if base != "" {
			mux.HandleFunc(base, counted)
		}
		return
	}
	mux.HandleFunc(base+"/"+name, counted)
}

// basePath is a configured base path as paths of requests begin: "" or "/a/b".
func basePath(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	if text = strings.Trim(text, "/"); text == "" {
		return ""
	}
	return strings.TrimSuffix(path.Clean("/"+text), "/")
}

// Port is the port it listens on.
func (m *Monitoring) Port() int { return m.ln.Addr().(*net.TCPAddr).Port }

// Close stops serving.
func (m *Monitoring) Close() { m.http.Close() }

// serve answers the question called name, with the options of the request.
func (m *Monitoring) serve(name string, w http.ResponseWriter, r *http.Request) {
	q, err := monitor.FromQuery(name, r.URL.Query())
	if err != nil {
		refuse(w, err)
		return
	}
	if name == "connz" {
		m.s.process.count("/connz")
	}
	var body []byte
	err = m.answer(r, q, func(v any) (err error) {
		if none, ok := v.(monitor.Raftz); ok && len(none) == 0 {
			return errNoRaft
		}
		body, err = monitor.Encode(v)
		return err
	})
	if err != nil {
		refuse(w, err)
		return
	}
	m.unread.writeJSON(w, http.StatusOK, body)
}

// errNoRaft is what nats-server says.
var errNoRaft = errors.New("No Raft nodes registered")

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, errNoRaft):
		status = http.StatusNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, errStopped), errors.Is(err, errUnread), errors.Is(err, errBusy):
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, err.Error()) // the client may have gone: nobody to tell
}

// answer asks the engine, when its turn has come, and has use made of the body of the answer (makeBody).
func (m *Monitoring) answer(r *http.Request, q monitor.Question, use func(body any) error) error {
	enough := time.NewTimer(m.patience)
	defer enough.Stop()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-r.Context().Done():
		return r.Context().Err()
	case <-enough.C:
		return errBusy
	}
	a, err := m.s.query(r.Context(), q)
	if err != nil {
		return err
	}
	return m.makeBody(r.Context(), a, use)
}

// makeBody has use made of the body of an answer, by as few at a time as bodies has places for. use must not wait for anybody:
// the others who ask wait for it.
func (m *Monitoring) makeBody(ctx context.Context, a monitor.Answer, use func(body any) error) error {
	select {
	case m.bodies <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	made, broken := make(chan error), make(chan any)
	go func() {
		defer func() {
			<-m.bodies
			if v := recover(); v != nil {
				broken <- v
			}
		}()
		made <- standBack(a, use)
	}()
	select {
	case err := <-made:
		return err
	case v := <-broken:
		panic(v) // ends the request, as a handler's own does
	}
}

// standBack makes the body of an answer and has use made of it. That may take many milliseconds: the loop's thread goes first,
// and, as so few are made at a time, always has a processor.
func standBack(a monitor.Answer, use func(body any) error) error {
	runtime.LockOSThread() // the thread ends with the goroutine: it can't be raised again
	lowerThread(true)
	body, err := a.Body()
	if err != nil {
		return err
	}
	return use(body)
}

// health answers as HTTP wants it: the status is that of the answer.
func (m *Monitoring) health(aspect monitor.Aspect, w http.ResponseWriter, r *http.Request) {
	q, err := monitor.FromQuery("healthz", r.URL.Query())
	if err != nil {
		refuse(w, err)
		return
	}
	o := q.(monitor.HealthzOptions)
	o.Aspect = aspect
	h := &monitor.Healthz{}
	// Not by answer: who looks after health must not wait behind those who ask for much.
	if a, err := m.s.query(r.Context(), o); err != nil {
		*h = monitor.Healthz{Status: "unavailable", Code: http.StatusServiceUnavailable, Error: err.Error()}
	} else {
		h = a.(*monitor.Healthz)
	}
	status := cmp.Or(h.Code, http.StatusOK)
	h.Code = 0
	body, err := encodeLine(h)
	if err != nil {
		refuse(w, err)
		return
	}
	m.unread.writeJSON(w, status, body)
}

// metrics writes the engine's counters and the process's in Prometheus' text format.
func (m *Monitoring) metrics(w http.ResponseWriter, r *http.Request) {
	var text []byte
	err := m.answer(r, monitor.MetricsOptions{}, func(body any) error {
		text = []byte(body.(string))
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.unread.write(w, http.StatusOK, text)
}
