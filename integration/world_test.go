package integration

import (
	"bufio"
	"crypto/tls"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
	"github.com/natsd/natsd/natsdtest"
	embedded "github.com/natsd/natsd/server"
)

// patience is how long anything may take before a test gives up. Nothing is expected to take a noticeable part of it.
const patience = 60 * time.Second

// hosts runs a test on every host that this system has.
func hosts(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	serialHosts(t, func(t *testing.T, w *world) {
		t.Parallel()
		test(t, w)
	})
}

// serialHosts is hosts for tests that look at the whole process.
func serialHosts(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	if runtime.GOOS == "linux" {
		t.Run("epoll", func(t *testing.T) { test(t, &world{t: t}) })
	}
	t.Run("portable", func(t *testing.T) { test(t, &world{t: t, portable: true}) })
}

// world starts servers and clients for one test and ends them with it.
type world struct {
	t         *testing.T
	portable  bool
	readBytes int // host.Options.ReadBytes
	tls       *tls.Config
}

// server is a server inside this process.
type server struct {
	*natsdtest.Server
	w    *world
	url  string
	addr string
	log  *lines
}

// serve starts a server. Without a port in o it listens on a free one.
func (w *world) serve(o engine.Options) *server {
	w.t.Helper()
	s, err := w.tryServe(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) tryServe(o engine.Options) (*server, error) {
	o.Host = "127.0.0.1"
	if o.Port == 0 {
		o.Port = -1
	}
	s := &server{w: w, log: &lines{}}
	srv, err := natsdtest.Start(w.t, embedded.Options{Log: s.log, Tune: func(h *host.Options) {
		h.Engine, h.Portable, h.ReadBytes = o, w.portable, w.readBytes
		if w.tls != nil {
			h.TLS = w.tls
		}
	}})
	if err != nil {
		return nil, err
	}
	s.Server, s.addr = srv, srv.Addr()
	s.url = "nats://" + s.addr
	return s, nil
}

// runConfig starts a server with a configuration file.
func (w *world) runConfig(file string) *natsdtest.Server {
	w.t.Helper()
	o := embedded.Options{ConfigFile: file}
	if w.portable {
		o.Flags = []string{"--portable"}
	}
	return natsdtest.RunOptions(w.t, o)
}

// Footprint counts what the engine holds.
func (s *server) Footprint() engine.Footprint { return s.Host().Footprint() }

// connect opens a connection of the client library. Errors that nobody asked for fail the test.
func (s *server) connect(opts ...nats.Option) *nats.Conn {
	s.w.t.Helper()
	nc, err := nats.Connect(s.url, append([]nats.Option{
		nats.Timeout(patience), nats.MaxReconnects(0),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.w.t.Errorf("client: %v", err) }),
	}, opts...)...)
	if err != nil {
		s.w.t.Fatal(err)
	}
	s.w.t.Cleanup(func() { closeQuietly(nc) })
	return nc
}

// closeQuietly closes a connection that may still have an error handler of a test that is over.
func closeQuietly(nc *nats.Conn) {
	nc.SetErrorHandler(nil)
	nc.Close()
}

// lines keeps what is logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

var levelTags = [...]string{"FTL", "ERR", "WRN", "INF", "DBG", "TRC", "DBG", "TRC"}

// Log implements engine.Log.
func (l *lines) Log(level engine.Level, subject, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if subject != "" {
		subject += " - "
	}
	l.all = append(l.all, "["+levelTags[level]+"] "+subject+text)
}

func (l *lines) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(strings.Join(l.all, "\n"), text)
}

// until waits for a condition that nothing announces.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// receive waits for something on a channel.
func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
		panic("unreachable")
	}
}

// ok fails the test if err is not nil.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rawClient speaks the protocol over a plain socket.
type rawClient struct {
	*net.TCPConn
	t *testing.T
	r *bufio.Reader
	// mute leaves the server's pings unanswered; they are lines like others then.
	mute bool
}

// dial opens a plain socket and reads INFO.
func (w *world) dial(addr string) *rawClient {
	w.t.Helper()
	c := dialSilently(w.t, addr)
	c.expect("INFO {")
	return c
}

// dialSilently opens a plain socket.
func dialSilently(t *testing.T, addr string) *rawClient {
	t.Helper()
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &rawClient{TCPConn: nc.(*net.TCPConn), t: t, r: bufio.NewReader(nc)}
}

// send writes text.
func (c *rawClient) send(text string) {
	c.t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		c.t.Fatalf("sending %.40q: %v", text, err)
	}
}

// line reads a line, without its end; the error says that there is none.
func (c *rawClient) line() (string, error) {
	ok(c.t, c.SetReadDeadline(time.Now().Add(patience)))
	for {
		line, err := c.r.ReadString('\n')
		if err == nil && line == "PING\r\n" && !c.mute {
			_, _ = c.Write([]byte("PONG\r\n")) // a client that has ended its side can't
			continue
		}
		return strings.TrimSuffix(line, "\r\n"), err
	}
}

// expect reads one line for each prefix.
func (c *rawClient) expect(prefixes ...string) {
	c.t.Helper()
	for _, prefix := range prefixes {
		line, err := c.line()
		if err != nil {
			c.t.Fatalf("waiting for %q: %v (have %.80q)", prefix, err, line)
		}
		if !strings.HasPrefix(line, prefix) {
			c.t.Fatalf("got %.120q, want %q", line, prefix)
		}
	}
}

// expectEnd reads to the end of the stream, which must be a proper one, and returns what came before it.
func (c *rawClient) expectEnd() string {
	c.t.Helper()
	var b strings.Builder
	for {
		line, err := c.line()
		b.WriteString(line + "\n")
		if err == nil {
			continue
		}
		if err.Error() != "EOF" {
			c.t.Fatalf("the connection did not end properly: %v", err)
		}
		return b.String()
	}
}

// ping makes sure that all sent before has been handled. Nothing else may arrive meanwhile.
func (c *rawClient) ping() {
	c.t.Helper()
	c.send("PING\r\n")
	c.expect("PONG")
}
