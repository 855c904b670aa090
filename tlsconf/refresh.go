package tlsconf

import (
	"context"
	"crypto/tls"
	"errors"
	"time"
)

// Problem is told of staples that could not be renewed. fatal says that the server should stop: the settings demand a good
// staple and the authority says that the certificate is not good.
type Problem func(err error, fatal bool)

// KeepStapled renews the staples of the Config that counts until ctx ends. say is told what goes well.
func (l *Live) KeepStapled(ctx context.Context, say func(string), tell Problem) {
	var known *Config
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-timer.C:
		}
		next := time.Now().Add(ocspDay)
		if c := l.Config(); c != nil && len(c.staples) > 0 {
			if c != known {
				say("OCSP Stapling enabled for Client connections")
			}
			known, next = c, l.renew(ctx, c, say, tell)
		}
		timer.Reset(time.Until(next))
	}
}

// renew renews what is due of c and returns when the next is.
func (l *Live) renew(ctx context.Context, c *Config, say func(string), tell Problem) (next time.Time) {
	now, renewed := time.Now(), false
	next = now.Add(ocspDay)
	for _, a := range c.staples {
		if a.untold != nil {
			tell(a.untold, false)
			a.untold = nil
		}
		if !now.Before(a.next) {
			renewed = true
			if err := a.refresh(ctx, now); err != nil && ctx.Err() == nil {
				tell(err, a.required && errors.Is(err, ErrRevoked))
			}
		}
		if a.found {
			a.found = false
			say(a.word(now))
		}
		if a.next.Before(next) {
			next = a.next
		}
	}
	if renewed {
		l.show(c, false)
	}
	return next
}

// withStaples is the configuration as handshakes get it.
func (c *Config) withStaples() *tls.Config {
	if len(c.staples) == 0 {
		return c.tls
	}
	t := c.tls.Clone()
	t.Certificates = append([]tls.Certificate(nil), t.Certificates...)
	for _, a := range c.staples {
		t.Certificates[a.index].OCSPStaple = a.staple
	}
	return t
}
