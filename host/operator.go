package host

import (
	"bytes"
	"expvar"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/natsd/natsd/engine"
)

// operator implements engine.Operator.
type operator struct{ s *Server }

func (o operator) Reload(id engine.ReloadID) {
	s := o.s
	go func() {
		problem := ""
		if err := s.opts.Reload(); err != nil {
			problem = err.Error()
		}
		s.post(func(e *engine.Engine) { e.Reloaded(id, problem) })
	}()
}

// diagnosis implements engine.Diagnosis.
type diagnosis struct{}

func (diagnosis) Profile(name string, debug int, duration int64) []byte {
	var b bytes.Buffer
	if name == "cpu" {
		if err := pprof.StartCPUProfile(&b); err != nil {
			return nil // another is being made
		}
		time.Sleep(time.Duration(duration))
		pprof.StopCPUProfile()
		return b.Bytes()
	}
	p := pprof.Lookup(name)
	if p == nil || p.WriteTo(&b, debug) != nil {
		return nil
	}
	return b.Bytes()
}

func (diagnosis) Variables() []byte {
	b := []byte{'{'}
	expvar.Do(func(v expvar.KeyValue) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, v.Key), ':')
		b = append(b, v.Value.String()...)
	})
	return append(b, '}')
}
