package linearizability

import (
	"bytes"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/natsd/natsd/engine"
)

// saboteur is a planted bug: it changes what the engine is told, every few times. The zero value changes nothing.
type saboteur struct {
	kind  sabotage
	times int
	rest  map[engine.ConnID][]byte // the beginning of a line
	held  map[engine.ConnID][]byte // lines told late
	wait  map[engine.ConnID]int    // PINGs until then
}

type sabotage uint8

const (
	honest sabotage = iota
	subLost
	subLate
	unsubLost
	unsubLate
	unsubWrong
	queueForgotten
	probeLost
	probeTwice
	probeLate
	endUntold
	numSabotages
)

func (k sabotage) String() string {
	return [...]string{"honest", "a SUB is lost", "a SUB is carried out later than its PONG", "an UNSUB is lost",
		"an UNSUB is carried out later than its PONG", "an UNSUB strikes another subscription", "a queue group is taken for none",
		"a publish is lost", "a publish is delivered twice", "a publish is carried out later than its PONG",
		"a connection's end does not end its interest"}[k]
}

// verb is the command that the bug is about.
func (k sabotage) verb() string {
	switch k {
	case subLost, subLate, queueForgotten:
		return "SUB e"
	case unsubLost, unsubLate, unsubWrong:
		return "UNSUB "
	default:
		return "PUB "
	}
}

func (s *saboteur) forget() {
	s.rest, s.held, s.wait = map[engine.ConnID][]byte{}, map[engine.ConnID][]byte{}, map[engine.ConnID]int{}
}

// tamper returns what the engine is told in place of data.
func (s *saboteur) tamper(id engine.ConnID, data []byte) []byte {
	if s.kind == honest || s.kind == endUntold {
		return data
	}
	var out []byte
	in := append(s.rest[id], data...)
	for {
		end := bytes.IndexByte(in, '\n') + 1
		if bytes.HasPrefix(in, []byte("PUB ")) && end > 0 { // with its payload
			if next := bytes.IndexByte(in[end:], '\n') + 1; next > 0 {
				end += next
			} else {
				end = 0
			}
		}
		if end == 0 {
			break
		}
		out = append(out, s.line(id, in[:end])...)
		in = in[end:]
	}
	s.rest[id] = append([]byte(nil), in...)
	return out
}

func (s *saboteur) line(id engine.ConnID, line []byte) []byte {
	if bytes.HasPrefix(line, []byte("PING")) && len(s.held[id]) > 0 {
		if s.wait[id]--; s.wait[id] == 0 {
			line = append(s.held[id], line...)
			s.held[id] = nil
		}
		return line
	}
	if !bytes.HasPrefix(line, []byte(s.kind.verb())) {
		return line
	}
	if s.times++; s.times%4 != 0 {
		return line
	}
	switch s.kind {
	case subLost, unsubLost, probeLost:
		return nil
	case subLate, unsubLate, probeLate:
		s.held[id] = append(s.held[id], line...)
		s.wait[id] = 3
		return nil
	case unsubWrong:
		return append([]byte("UNSUB 1"), line[len("UNSUB "):]...)
	case queueForgotten:
		words := bytes.Fields(line)
		return append(bytes.Join([][]byte{words[0], words[1], words[len(words)-1]}, []byte(" ")), "\r\n"...)
	default: // probeTwice
		return append(append([]byte(nil), line...), line...)
	}
}

// TestBugsAreFound: each planted bug makes some history not linearizable, soon.
func TestBugsAreFound(t *testing.T) {
	const seeds = 20
	for kind := honest + 1; kind < numSabotages; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			for seed := range uint64(seeds) {
				w := newWorld(t, seed)
				w.srv.saboteur.kind = kind
				w.run(6 * second)
				if v := w.judge(); v.Result == porcupine.Illegal {
					t.Logf("seed %d: %v", seed, v.Err())
					return
				}
			}
			t.Errorf("%d seeds did not find it", seeds)
		})
	}
}
