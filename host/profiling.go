package host

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// Profiling serves profiles of the process over HTTP, under /debug/pprof/.
type Profiling struct {
	ln   net.Listener
	http *http.Server
}

// Profile opens addr ("host:port") and serves until Close. It fails where that can't be listened on. Block profiles are the caller's
// business.
func Profile(addr string) (*Profiling, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the profiling port can't be opened: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	p := &Profiling{ln: ln, http: &http.Server{
		Handler: mux, MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, // a profile takes as long as it is asked to
		ErrorLog: log.New(io.Discard, "", 0),
	}}
	go p.http.Serve(ln) //nolint:errcheck // ends with ErrServerClosed
	return p, nil
}

// Port is the port it listens on.
func (p *Profiling) Port() int { return p.ln.Addr().(*net.TCPAddr).Port }

// Close stops serving.
func (p *Profiling) Close() { p.http.Close() }
