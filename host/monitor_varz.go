package host

import (
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/natsd/natsd/engine"
)

// varz adds to the engine's what only the host knows.
type varz struct {
	*engine.Varz
	AuthTimeout float64        `json:"auth_timeout"`
	HTTPHost    string         `json:"http_host"`
	HTTPPort    int            `json:"http_port"`
	Start       time.Time      `json:"start"`
	Now         time.Time      `json:"now"`
	Uptime      string         `json:"uptime"`
	Mem         int64          `json:"mem"` // bytes resident
	Cores       int            `json:"cores"`
	MaxProcs    int            `json:"gomaxprocs"`
	CPU         float64        `json:"cpu"` // percent of one core, since the last time it was asked for
	HTTPReqs    map[string]int `json:"http_req_stats"`
	Loaded      time.Time      `json:"config_load_time"`
	Slow        byKind         `json:"slow_consumer_stats"`
	Stale       byKind         `json:"stale_connection_stats"`

	// What there is not yet, as nats-server shows it where it is not configured: readers rely on its being there.
	HTTPSPort int      `json:"https_port"`
	BasePath  string   `json:"http_base_path"`
	Cluster   struct{} `json:"cluster"`
	Gateway   struct{} `json:"gateway"`
	Leaf      struct{} `json:"leaf"`
	MQTT      struct{} `json:"mqtt"`
	WebSocket struct{} `json:"websocket"`
	JetStream struct{} `json:"jetstream"`
}

// byKind counts by the kind of connection.
type byKind struct {
	Clients  uint64 `json:"clients"`
	Routes   uint64 `json:"routes"`
	Gateways uint64 `json:"gateways"`
	Leafs    uint64 `json:"leafs"`
}

func (m *Monitoring) varz(r *http.Request) (any, error) {
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryVarz(id) })
	if err != nil {
		return nil, err
	}
	v := a.(*engine.Varz)
	out := varz{
		Varz: v, AuthTimeout: float64(v.AuthTimeoutMs) / 1000, HTTPHost: m.host, HTTPPort: m.Port(),
		Start: stamp(v.Start), Now: stamp(v.Now), Uptime: uptime(v.Uptime),
		Loaded: stamp(v.Start), Slow: byKind{Clients: v.SlowConsumers}, Stale: byKind{Clients: v.StaleConnections},
		Cores: runtime.NumCPU(), MaxProcs: runtime.GOMAXPROCS(0), HTTPReqs: map[string]int{},
	}
	m.mu.Lock()
	out.Mem, out.CPU = m.usage.sample()
	for p, n := range m.counts {
		out.HTTPReqs[p] = n
	}
	m.mu.Unlock()
	return out, nil
}

func stamp(t engine.WallTime) time.Time { return time.Unix(0, int64(t)).UTC() }

// uptime is a duration in nats-server's form: "1y2d3h4m5s" without leading zeros.
func uptime(d time.Duration) string {
	s := int64(d / time.Second)
	days := s / 86400
	out := ""
	if y := days / 365; y > 0 {
		out = fmt.Sprintf("%dy", y)
	}
	if days%365 > 0 || out != "" {
		out += fmt.Sprintf("%dd", days%365)
	}
	for _, u := range []struct {
		n    int64
		unit string
	}{{s % 86400 / 3600, "h"}, {s % 3600 / 60, "m"}} {
		if u.n > 0 || out != "" {
			out += fmt.Sprintf("%d%s", u.n, u.unit)
		}
	}
	return out + fmt.Sprintf("%ds", s%60)
}
