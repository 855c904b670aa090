package host

import (
	"bytes"
	"encoding/json"
	"expvar"
	"maps"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/natsd/natsd/monitor"
)

// usageEvery is how old what the process uses may be when it is shown. CPU is an average over the time since it was asked for
// before: to ask more often would say little.
const usageEvery = time.Second

// process knows what the engine can't. It may be used by any thread.
type process struct {
	ocsp       func() *monitor.OCSPCache // nil: there is none
	processors int                       // to use

	mu       sync.Mutex
	p        monitor.Process
	usage    usage
	measured time.Time
}

// Process implements engine.Process.
func (s *process) Process() monitor.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.measured) > usageEvery {
		s.measured = now
		mem, cpu := s.usage.sample()
		cpu = math.Round(cpu*10) / 10 // more places mean nothing, and tools show them all
		s.p.Mem, s.p.CPU = mem, json.Number(strconv.FormatFloat(cpu, 'f', -1, 64))
	}
	s.p.Cores, s.p.MaxProcs = runtime.NumCPU(), s.processors
	if s.p.MemLimit = debug.SetMemoryLimit(-1); s.p.MemLimit == math.MaxInt64 {
		s.p.MemLimit = 0
	}
	p := s.p
	if s.ocsp != nil {
		p.OCSP = s.ocsp()
	}
	if p.Requests = maps.Clone(s.p.Requests); p.Requests == nil {
		p.Requests = map[string]uint64{}
	}
	return p
}

// listens notes an address of monitoring.
func (s *process) listens(host string, port int, secure bool, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.HTTPHost, s.p.BasePath = host, base
	if secure {
		s.p.HTTPSPort = port
	} else {
		s.p.HTTPPort = port
	}
}

func (s *process) count(page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p.Requests == nil {
		s.p.Requests = map[string]uint64{}
	}
	s.p.Requests[page]++
}

// Loaded notes which configuration is in force: the digest of its file, and when it was read.
func (s *Server) Loaded(digest string, at time.Time) {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	s.process.p.Digest, s.process.p.Loaded = digest, at.UnixNano()
}

// variables shows what package expvar does.
func variables(w http.ResponseWriter, r *http.Request) { expvar.Handler().ServeHTTP(w, r) }

// stacksMax bounds the text of all goroutines.
const stacksMax = 1 << 20

// stacks shows what all goroutines are doing.
func (m *Monitoring) stacks(w http.ResponseWriter, r *http.Request) {
	b := make([]byte, stacksMax)
	b = bytes.Clone(b[:runtime.Stack(b, true)]) // who reads slowly does not hold the rest
	m.unread.writeJSON(w, http.StatusOK, b)
}

// encodeLine is JSON in one line, with texts as they are.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
