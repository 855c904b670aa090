//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// latenciesMax bounds how many latencies a run keeps.
const latenciesMax = 4 << 20

// exchange is a requester and a responder that take turns on one thread, with
// one request under way at a time.
type exchange struct {
	requester, responder *conn
	request, reply       []byte
	payloadBytes         int
}

// newExchange connects both sides. Messages carry payloadBytes in both
// directions; subject keeps several exchanges on one server apart.
func newExchange(to endpoint, subject string, payloadBytes int) (*exchange, error) {
	inbox := "_INBOX." + subject + "."
	x := &exchange{payloadBytes: payloadBytes}
	var err error
	if x.requester, err = dial(to, "requester"); err != nil {
		return nil, err
	}
	if x.responder, err = dial(to, "responder"); err != nil {
		return nil, err
	}
	if err := x.responder.subscribe(subject + " " + sidOf(0)); err != nil {
		return nil, err
	}
	if err := x.requester.subscribe(inbox + "* " + sidOf(0)); err != nil {
		return nil, err
	}
	payload := string(appendPayload(nil, 0, 0, payloadBytes))
	x.request = fmt.Appendf(nil, "PUB %s %s1 %d\r\n%s\r\n", subject, inbox, payloadBytes, payload)
	x.reply = fmt.Appendf(nil, "PUB %s1 %d\r\n%s\r\n", inbox, payloadBytes, payload)
	return x, nil
}

// once sends a request, answers it and returns how long it took until the reply
// had arrived.
func (x *exchange) once() (time.Duration, error) {
	begin := time.Now()
	if err := x.requester.write(x.request); err != nil {
		return 0, fmt.Errorf("requester: %w", err)
	}
	if err := x.receive(x.responder); err != nil {
		return 0, fmt.Errorf("responder: %w", err)
	}
	if err := x.responder.write(x.reply); err != nil {
		return 0, fmt.Errorf("responder: %w", err)
	}
	if err := x.receive(x.requester); err != nil {
		return 0, fmt.Errorf("requester: %w", err)
	}
	return time.Since(begin), nil
}

// receive waits for a message with the payload that all messages carry.
func (x *exchange) receive(c *conn) error {
	for {
		f, err := c.next()
		if err != nil {
			return err
		}
		if f.op != opMsg {
			continue
		}
		if _, _, ok := readStamp(f.payload, x.payloadBytes); !ok {
			return fmt.Errorf("%w: payload %q", errFrame, clip(f.payload))
		}
		return nil
	}
}

func (x *exchange) close() {
	x.requester.close()
	x.responder.close()
}

// requestReply measures latency with one request at a time.
func requestReply(s *server, o options) (sample, error) {
	x, err := newExchange(s.at(), "bench.request", smallPayloadBytes)
	if err != nil {
		return nil, err
	}
	defer x.close()
	return x.measure(s, o)
}

// measure takes the latencies of one request after the other.
func (x *exchange) measure(s *server, o options) (sample, error) {
	for deadline := time.Now().Add(o.warmUp); time.Now().Before(deadline); {
		if _, err := x.once(); err != nil {
			return nil, fmt.Errorf("warm-up: %w", err)
		}
	}
	latencies := make([]int64, 0, latenciesMax)
	begin, err := readGauge(s, 0)
	if err != nil {
		return nil, err
	}
	for time.Since(begin.at) < o.duration && len(latencies) < latenciesMax {
		took, err := x.once()
		if err != nil {
			return nil, err
		}
		latencies = append(latencies, int64(took))
	}
	end, err := readGauge(s, int64(len(latencies)))
	if err != nil {
		return nil, err
	}
	measured, err := begin.until(end, s)
	if err != nil {
		return nil, err
	}
	slices.Sort(latencies)
	measured[latencyP50] = float64(percentile(latencies, 500))
	measured[latencyP99] = float64(percentile(latencies, 990))
	measured[latencyP999] = float64(percentile(latencies, 999))
	return measured, nil
}
