package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/config"
)

// What engine.Options takes where nothing is said.
const (
	defaultMaxPayload    = 1 << 20
	discouragedPayload   = 8 << 20 // above it, a single message holds up too much
	defaultMaxPending    = 64 << 20
	defaultLameDuck      = 2 * time.Minute
	defaultLameDuckGrace = 10 * time.Second
)

// unfit reports keys of c that don't fit together, or that would have no effect: each at the place of one of them.
func unfit(c *config.Config, rep *conf.Report) {
	wrong := func(key, format string, args ...any) {
		at, _ := c.Where(key)
		rep.Errorf(at, format, args...)
	}
	payload, pending := cmp.Or(c.MaxPayload, defaultMaxPayload), cmp.Or(c.MaxPending, defaultMaxPending)
	if payload < 0 {
		wrong("max_payload", "max_payload is %d: it can't be below zero", payload)
	}
	if at, there := c.Where("max_payload"); there && payload > discouragedPayload {
		rep.Warnf(at, "max_payload is %d: maximum payloads over 8 MB are discouraged and could lead to poor performance", payload)
	}
	if pending > 0 && payload > pending {
		wrong(theOne(c, "max_payload", "max_pending"), "max_payload (%d) is more than max_pending (%d): such messages could never be delivered", payload, pending)
	}
	lasts, grace := cmp.Or(c.LameDuckDuration, defaultLameDuck), cmp.Or(c.LameDuckGrace, defaultLameDuckGrace)
	if grace >= lasts {
		wrong(theOne(c, "lame_duck_grace_period", "lame_duck_duration"), "lame_duck_grace_period (%v) must be less than lame_duck_duration (%v)", grace, lasts)
	}
	if err := advertisable(c.ClientAdvertise); err != nil {
		wrong("client_advertise", "%v", err)
	}
	if c.MonitorPort != 0 && c.MonitorsPort != 0 {
		wrong(theOne(c, "https", "https_port"), "can't specify both HTTP (%d) and HTTPs (%d) ports", c.MonitorPort, c.MonitorsPort)
	}
	if len(c.Operators.Operators)+len(c.Operators.TrustedKeys) == 0 {
		withoutOperator(c, rep)
	}
}

// withoutOperator reports what only operators have a use for. nats-server starts with the keys that warn.
func withoutOperator(c *config.Config, rep *conf.Report) {
	for _, key := range []string{"resolver", "resolver_preload", "default_sentinel", "resolver_pinned_accounts", "resolver_tls"} {
		at, there := c.Where(key)
		say := rep.Errorf
		switch {
		case !there:
			continue
		case key == "resolver" && c.Operators.Resolver.Kind == config.MemoryResolver, key == "resolver_pinned_accounts", key == "resolver_tls":
			say = rep.Warnf
		}
		say(at, "%s has no effect without an operator", key)
	}
}

// theOne of two keys that stands in the file, the first where both do.
func theOne(c *config.Config, key, other string) string {
	if _, there := c.Where(key); there {
		return key
	}
	return other
}

// advertisable returns what is wrong with an address for clients: a host, or a host and a port.
func advertisable(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		if _, err = strconv.Atoi(port); err != nil {
			err = fmt.Errorf("%q is no port", port)
		}
	}
	var split *net.AddrError
	if err == nil || errors.As(err, &split) && split.Err == "missing port in address" {
		return nil
	}
	return fmt.Errorf("client_advertise %q: %w", addr, err)
}
