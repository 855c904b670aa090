package natsdtest

import (
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/server"
)

// patience is how long anything may take before a test fails for it.
const patience = time.Minute

// Server is a server that belongs to a test.
type Server struct {
	*server.Server
	t   testing.TB
	log *log
}

// Run starts a server on a free port of 127.0.0.1 and stops it when the test is over.
func Run(t testing.TB) *Server {
	t.Helper()
	return RunOptions(t, server.Options{})
}

// RunConfig starts a server with a configuration file. Where the file names no port, it is a free one.
func RunConfig(t testing.TB, file string) *Server {
	t.Helper()
	return RunOptions(t, server.Options{ConfigFile: file})
}

// RunOptions starts a server and stops it when the test is over; a server that can't start, or ends with an error, fails the
// test. Its log goes to o.Log, or into the test's where that is nil.
func RunOptions(t testing.TB, o server.Options) *Server {
	t.Helper()
	s, err := Start(t, o)
	if err != nil {
		t.Fatalf("natsd: %v", err)
	}
	return s
}

// Start is RunOptions for a server that may fail to start. The error is that of server.Start.
func Start(t testing.TB, o server.Options) (*Server, error) {
	t.Helper()
	l := &log{t: t}
	if o.Log == nil {
		o.Log = l
	}
	v, err := server.Start(o)
	if err != nil {
		l.close()
		return nil, err
	}
	s := &Server{v, t, l}
	t.Cleanup(s.end)
	return s, nil
}

// end stops the server and sees that it ends.
func (s *Server) end() {
	defer s.log.close()
	s.Host().Stop()
	select {
	case <-s.Done():
	case <-time.After(patience):
		s.t.Error("natsd: the server does not stop")
		return
	}
	if err := s.Wait(); err != nil {
		s.t.Errorf("natsd: the server ended with %v", err)
	}
}

// Connect connects a client, which is closed when the test is over. What the client library reports to nobody else fails the
// test.
func (s *Server) Connect(opts ...nats.Option) *nats.Conn {
	s.t.Helper()
	nc, err := nats.Connect(s.URL(), append([]nats.Option{
		nats.Timeout(patience), nats.MaxReconnects(0),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.t.Errorf("client: %v", err) }),
	}, opts...)...)
	if err != nil {
		s.t.Fatalf("natsd: connecting to %s: %v", s.URL(), err)
	}
	s.t.Cleanup(func() {
		nc.SetErrorHandler(nil) // the test is over
		nc.Close()
	})
	return nc
}

// log is the log of a server in a test's.
type log struct {
	mu   sync.Mutex
	t    testing.TB
	over bool // nothing may be said to t any more
}

var tags = [...]string{"FTL", "ERR", "WRN", "INF", "DBG", "TRC", "DBG", "TRC"}

// Log implements engine.Log.
func (l *log) Log(level engine.Level, subject, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if subject != "" {
		subject += " - "
	}
	l.t.Logf("natsd: [%s] %s%s", tags[level], subject, text)
}

func (l *log) close() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
}
