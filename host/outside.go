package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/natsd/natsd/engine"
)

// pages gets pages for the engine.
type pages struct {
	s      *Server
	client atomic.Pointer[http.Client]
}

// pageMax bounds the bytes of a page.
const pageMax = 1 << 20

func newPages(s *Server, c *tls.Config) *pages {
	p := &pages{s: s}
	p.with(c)
	return p
}

// with has pages got with other settings of TLS from now on.
func (p *pages) with(c *tls.Config) {
	old := p.client.Swap(&http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: c, MaxIdleConns: 10, IdleConnTimeout: 30 * time.Second,
	}})
	if old != nil {
		old.CloseIdleConnections()
	}
}

// FetchWith has the pages of a URL resolver got with other settings of TLS from now on; nil: the defaults. It may be called from any
// thread.
func (s *Server) FetchWith(c *tls.Config) { s.pages.with(c) }

// Get implements engine.Web.
func (p *pages) Get(id engine.FetchID, url string, timeout time.Duration) {
	go func() {
		text, why := "", ""
		text, err := p.get(url, timeout)
		if err != nil {
			why = err.Error()
		}
		p.s.post(func(e *engine.Engine) { e.Fetched(id, text, why) })
	}()
}

func (p *pages) get(url string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	a, err := p.client.Load().Do(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return "", fmt.Errorf("could not fetch <%q>: %s", url, a.Status)
	}
	text, err := io.ReadAll(io.LimitReader(a.Body, pageMax+1))
	if err == nil && len(text) > pageMax {
		err = errors.New("the page is too long")
	}
	return string(text), err
}

// zones are the time zones of the system. They are read once each.
type zones struct {
	mu    sync.Mutex
	known map[string]*time.Location
}

// zonesMax bounds how many names are remembered, found or not: clients' accounts choose them.
const zonesMax = 1024

// Zone implements engine.Zones.
func (z *zones) Zone(name string) *time.Location {
	z.mu.Lock()
	defer z.mu.Unlock()
	if l, ok := z.known[name]; ok {
		return l
	}
	l, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		l = nil
	}
	if z.known == nil || len(z.known) >= zonesMax {
		z.known = make(map[string]*time.Location)
	}
	z.known[name] = l
	return l
}
