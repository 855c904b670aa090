package revocation

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/crypto/ocsp"
)

// question is one that is being asked. Whoever has the same one waits for its answer.
type question struct {
	done chan struct{} // closed when what follows is valid
	raw  []byte
	err  error
}

type pauseKey struct{}

// During returns the context of a handshake. What waits for responders is called by way of pause, with a context that ends when
// the handshake need not go on.
func During(ctx context.Context, pause func(wait func(context.Context))) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// ask gets the answer of a certificate's responders. It is errGone if the handshake, or the Checker, has ended before.
func (c *Checker) ask(ctx context.Context, p *Policy, l *link) (raw []byte, err error) {
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return nil, errGone
	}
	q := c.asking[l.key]
	if q == nil {
		q = &question{done: make(chan struct{})}
		c.asking[l.key] = q
		c.running.Go(func() { c.carryOut(q, p, l) })
	}
	c.mu.Unlock()
	wait := func(ctx context.Context) {
		select {
		case <-q.done:
			raw, err = q.raw, q.err
		case <-ctx.Done():
			err = errGone
		case <-c.ctx.Done():
			err = errGone
		}
	}
	if pause, ok := ctx.Value(pauseKey{}).(func(func(context.Context))); ok {
		pause(wait)
	} else {
		wait(ctx)
	}
	return raw, err
}

// carryOut asks one responder after the other. It goes on when the handshake that began it has ended: the answer is the next
// one's.
func (c *Checker) carryOut(q *question, p *Policy, l *link) {
	q.raw, q.err = c.askAll(p, l)
	c.mu.Lock()
	if q.err != nil && c.ctx.Err() != nil {
		q.err = errGone // which is no word about the responder
	}
	delete(c.asking, l.key)
	c.mu.Unlock()
	close(q.done)
}

func (c *Checker) askAll(p *Policy, l *link) (raw []byte, err error) {
	body, err := ocsp.CreateRequest(l.cert, l.issuer, nil)
	if err != nil {
		return nil, err
	}
	for _, u := range l.urls {
		c.witness.Debugf("Trying OCSP responder url [%s]", u)
		if raw, err = c.get(GetURL(u, body), p); err == nil {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("exhausted OCSP responders: %w", err)
}

func (c *Checker) get(where string, p *Policy) ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.ctx, p.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	return Exchange(r)
}
