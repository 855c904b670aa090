package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/subject"
)

// answers joins monitoring queries, asked by HTTP handlers on other threads, with the engine's answers.
type answers struct {
	mu      sync.Mutex
	last    engine.QueryID
	waiting map[engine.QueryID]chan any
}

// Answer implements engine.Monitor.
func (a *answers) Answer(id engine.QueryID, answer any) {
	a.mu.Lock()
	ch := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if ch != nil {
		ch <- answer // has room for one
	}
}

// query asks the engine and waits.
func (s *Server) query(ctx context.Context, ask func(e *engine.Engine, id engine.QueryID)) (any, error) {
	ch := make(chan any, 1)
	s.answers.mu.Lock()
	s.answers.last++
	id := s.answers.last
	s.answers.waiting[id] = ch
	s.answers.mu.Unlock()
	s.post(func(e *engine.Engine) { ask(e, id) })
	select {
	case a := <-ch:
		return a, nil
	case <-s.done:
		return nil, errors.New("the server has stopped")
	case <-ctx.Done():
		s.answers.mu.Lock()
		delete(s.answers.waiting, id)
		s.answers.mu.Unlock()
		return nil, ctx.Err()
	}
}

// Monitoring serves a running Server's state over HTTP: /varz, /connz, /subsz and /healthz, as nats-server does.
type Monitoring struct {
	s      *Server
	ln     net.Listener
	http   *http.Server
	mu     sync.Mutex
	counts map[string]int
	usage  usage
}

// Monitor opens addr ("host:port") and serves until Close.
func (s *Server) Monitor(addr string) (*Monitoring, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the monitoring port can't be opened: %w", err)
	}
	m := &Monitoring{s: s, ln: ln, counts: map[string]int{}}
	mux := http.NewServeMux()
	for path, h := range map[string]func(*http.Request) (any, error){
		"/varz": m.varz, "/connz": m.connz, "/subsz": m.subsz, "/subscriptionsz": m.subsz,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { m.serve(path, w, r, h) })
	}
	mux.HandleFunc("/healthz", m.healthz)
	mux.HandleFunc("/{$}", m.index)
	m.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go m.http.Serve(ln) //nolint:errcheck // ends with ErrServerClosed
	return m, nil
}

// Port is the port it listens on.
func (m *Monitoring) Port() int { return m.ln.Addr().(*net.TCPAddr).Port }

// Close stops serving.
func (m *Monitoring) Close() { m.http.Close() }

func (m *Monitoring) count(path string) {
	m.mu.Lock()
	m.counts[path]++
	m.mu.Unlock()
}

func (m *Monitoring) serve(path string, w http.ResponseWriter, r *http.Request, h func(*http.Request) (any, error)) {
	m.count(path)
	answer, err := h(r)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, context.Canceled) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), status)
		return
	}
	writeJSON(w, r, http.StatusOK, answer)
}

// writeJSON writes v indented, wrapped in the JSONP function that the request may name.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if f := r.URL.Query().Get("callback"); f != "" {
		w.Header().Set("Content-Type", "application/javascript")
		fmt.Fprintf(w, "%s(%s)", f, body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone: nobody to tell
}

func (m *Monitoring) index(w http.ResponseWriter, r *http.Request) {
	m.count("/")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html><html lang="en"><title>natsd</title><h1>natsd</h1><ul>`)
	for _, p := range []string{"varz", "connz", "subsz", "healthz"} {
		fmt.Fprintf(w, `<li><a href="./%s">%s</a></li>`, p, p)
	}
	fmt.Fprint(w, `</ul></html>`)
}

func (m *Monitoring) healthz(w http.ResponseWriter, r *http.Request) {
	m.count("/healthz")
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryHealthz(id) })
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error,omitempty"`
	}{Status: "ok"}
	status := http.StatusOK
	if err != nil {
		answer.Status, answer.Error, status = "unavailable", err.Error(), http.StatusServiceUnavailable
	} else if h := a.(*engine.Healthz); !h.OK {
		answer.Status, answer.Error, status = "unavailable", h.Reason, http.StatusServiceUnavailable
	}
	writeJSON(w, r, status, answer)
}

func stamp(t engine.WallTime) time.Time { return time.Unix(0, int64(t)).UTC() }

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
}

func (m *Monitoring) varz(r *http.Request) (any, error) {
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryVarz(id) })
	if err != nil {
		return nil, err
	}
	v := a.(*engine.Varz)
	host, _, _ := net.SplitHostPort(m.ln.Addr().String()) // an address of our own listener always splits
	out := varz{
		Varz: v, AuthTimeout: float64(v.AuthTimeoutMs) / 1000, HTTPHost: host, HTTPPort: m.Port(),
		Start: stamp(v.Start), Now: stamp(v.Now), Uptime: uptime(v.Uptime),
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

const defaultLimit = 1024

// page reads offset and limit.
func page(q url.Values) (offset, limit int, err error) {
	limit = defaultLimit
	for _, f := range []struct {
		name string
		to   *int
	}{{"offset", &offset}, {"limit", &limit}} {
		v := q.Get(f.name)
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return 0, 0, fmt.Errorf("error decoding %q for parameter %q: it must be a number from 0 on", v, f.name)
		}
		*f.to = n
	}
	if limit == 0 {
		limit = defaultLimit
	}
	return offset, limit, nil
}

// slice cuts the page out of all.
func slice[T any](all []T, offset, limit int) []T {
	if offset >= len(all) {
		return []T{}
	}
	return all[offset:min(offset+limit, len(all))]
}

type subDetail struct {
	Account string `json:"account,omitempty"`
	Tag     string `json:"account_tag,omitempty"`
	Subject string `json:"subject"`
	Queue   string `json:"qgroup,omitempty"`
	SID     string `json:"sid"`
	Msgs    uint64 `json:"msgs"`
	Max     uint64 `json:"max,omitempty"`
	CID     uint64 `json:"cid"`
}

func detail(s engine.SubInfo, account bool) subDetail {
	d := subDetail{Subject: s.Subject, Queue: s.Queue, SID: s.SID, Msgs: s.Msgs, Max: s.Max, CID: s.CID}
	if account {
		d.Account, d.Tag = s.Account, s.Account
	}
	return d
}

func (m *Monitoring) subsz(r *http.Request) (any, error) {
	q := r.URL.Query()
	offset, limit, err := page(q)
	if err != nil {
		return nil, err
	}
	o := engine.SubszOptions{List: isOn(q.Get("subs")), Test: q.Get("test")}
	if o.Test != "" {
		if !subject.ValidLiteral(o.Test) {
			return nil, fmt.Errorf("invalid test subject, must be valid publish subject: %s", o.Test)
		}
		o.List = true
	}
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QuerySubsz(id, o) })
	if err != nil {
		return nil, err
	}
	s := a.(*engine.Subsz)
	out := struct {
		ServerID  string      `json:"server_id"`
		Now       time.Time   `json:"now"`
		NumSubs   int         `json:"num_subscriptions"`
		NumCache  int         `json:"num_cache"`
		Inserts   uint64      `json:"num_inserts"`
		Removes   uint64      `json:"num_removes"`
		Matches   uint64      `json:"num_matches"`
		HitRate   float64     `json:"cache_hit_rate"`
		MaxFanout int         `json:"max_fanout"`
		AvgFanout float64     `json:"avg_fanout"`
		Total     int         `json:"total"`
		Offset    int         `json:"offset"`
		Limit     int         `json:"limit"`
		Subs      []subDetail `json:"subscriptions_list,omitempty"`
	}{
		ServerID: s.ServerID, Now: stamp(s.Now), Offset: offset, Limit: limit, Total: len(s.Subs),
		NumSubs: s.Stats.Subs, NumCache: s.Stats.Cached, Inserts: s.Stats.Inserts, Removes: s.Stats.Removes,
		Matches: s.Stats.Matches, MaxFanout: s.Stats.FanoutMax,
		HitRate: ratio(s.Stats.Hits, s.Stats.Matches), AvgFanout: ratio(uint64(s.Stats.FanoutSum), uint64(s.Stats.Cached)),
	}
	for _, sub := range slice(s.Subs, offset, limit) {
		out.Subs = append(out.Subs, detail(sub, true))
	}
	return out, nil
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func isOn(v string) bool { return v == "1" || v == "true" || v == "detail" }

// orders are the ways to sort /connz; all but cid put the largest first.
var orders = map[string]func(a, b *engine.ConnzInfo) int{
	"cid":        func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.CID, b.CID) },
	"start":      func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.Start, b.Start) },
	"subs":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.NumSubs, a.NumSubs) },
	"pending":    func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Pending, a.Pending) },
	"msgs_to":    func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.OutMsgs, a.OutMsgs) },
	"msgs_from":  func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.InMsgs, a.InMsgs) },
	"bytes_to":   func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.OutBytes, a.OutBytes) },
	"bytes_from": func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.InBytes, a.InBytes) },
	"last":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.LastActivity, a.LastActivity) },
	"idle":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Idle, a.Idle) },
	"uptime":     func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Uptime, a.Uptime) },
	"rtt":        func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.RTT, a.RTT) },
	"stop":       func(a, b *engine.ConnzInfo) int { return cmp.Compare(b.Stop, a.Stop) },
	"reason":     func(a, b *engine.ConnzInfo) int { return cmp.Compare(a.Reason, b.Reason) },
}

type connInfo struct {
	CID          uint64      `json:"cid"`
	Kind         string      `json:"kind"`
	Type         string      `json:"type"`
	IP           string      `json:"ip"`
	Port         int         `json:"port"`
	Start        time.Time   `json:"start"`
	LastActivity time.Time   `json:"last_activity"`
	Stop         *time.Time  `json:"stop,omitempty"`
	Reason       string      `json:"reason,omitempty"`
	RTT          string      `json:"rtt,omitempty"`
	Uptime       string      `json:"uptime"`
	Idle         string      `json:"idle"`
	Pending      int         `json:"pending_bytes"`
	InMsgs       uint64      `json:"in_msgs"`
	OutMsgs      uint64      `json:"out_msgs"`
	InBytes      uint64      `json:"in_bytes"`
	OutBytes     uint64      `json:"out_bytes"`
	NumSubs      int         `json:"subscriptions"`
	Name         string      `json:"name,omitempty"`
	Lang         string      `json:"lang,omitempty"`
	Version      string      `json:"version,omitempty"`
	User         string      `json:"authorized_user,omitempty"`
	Account      string      `json:"account,omitempty"`
	Subs         []string    `json:"subscriptions_list,omitempty"`
	SubsDetail   []subDetail `json:"subscriptions_list_detail,omitempty"`
}

func (m *Monitoring) connz(r *http.Request) (any, error) {
	q := r.URL.Query()
	offset, limit, err := page(q)
	if err != nil {
		return nil, err
	}
	o := engine.ConnzOptions{Subs: isOn(q.Get("subs"))}
	switch state := q.Get("state"); state {
	case "", "open":
		o.Open = true
	case "closed":
		o.Closed = true
	case "any", "all":
		o.Open, o.Closed = true, true
	default:
		return nil, fmt.Errorf("error decoding state for %s", state)
	}
	if v := q.Get("cid"); v != "" {
		if o.CID, err = strconv.ParseUint(v, 10, 64); err != nil {
			return nil, fmt.Errorf("error decoding %q for parameter \"cid\": it must be a number", v)
		}
	}
	order := q.Get("sort")
	if order == "" {
		order = "cid"
	}
	compare := orders[order]
	if compare == nil {
		return nil, fmt.Errorf("invalid sorting option: %s", order)
	}
	if o.Open && (order == "stop" || order == "reason") {
		return nil, fmt.Errorf("sort by %s only valid on closed connections", order)
	}
	a, err := m.s.query(r.Context(), func(e *engine.Engine, id engine.QueryID) { e.QueryConnz(id, o) })
	if err != nil {
		return nil, err
	}
	c := a.(*engine.Connz)
	slices.SortFunc(c.Conns, func(a, b engine.ConnzInfo) int { return cmp.Or(compare(&a, &b), cmp.Compare(a.CID, b.CID)) })
	out := struct {
		ServerID string     `json:"server_id"`
		Now      time.Time  `json:"now"`
		Num      int        `json:"num_connections"`
		Total    int        `json:"total"`
		Offset   int        `json:"offset"`
		Limit    int        `json:"limit"`
		Conns    []connInfo `json:"connections"`
	}{ServerID: c.ServerID, Now: stamp(c.Now), Total: len(c.Conns), Offset: offset, Limit: limit, Conns: []connInfo{}}
	for _, i := range slice(c.Conns, offset, limit) {
		out.Conns = append(out.Conns, connRow(&i, q.Get("subs") == "detail", isOn(q.Get("auth"))))
	}
	out.Num = len(out.Conns)
	return out, nil
}

func connRow(i *engine.ConnzInfo, details, auth bool) connInfo {
	row := connInfo{
		CID: i.CID, Kind: "Client", Type: "nats", IP: i.IP, Port: i.Port, Start: stamp(i.Start),
		LastActivity: stamp(i.LastActivity), Reason: string(i.Reason), Uptime: uptime(i.Uptime), Idle: uptime(i.Idle),
		Pending: i.Pending, InMsgs: i.InMsgs, OutMsgs: i.OutMsgs, InBytes: i.InBytes, OutBytes: i.OutBytes,
		NumSubs: i.NumSubs, Name: i.Name, Lang: i.Lang, Version: i.Version,
	}
	if auth {
		row.User, row.Account = i.AuthorizedUser, i.Account
	}
	if i.RTT > 0 {
		row.RTT = i.RTT.String()
	}
	if i.Stop != 0 {
		t := stamp(i.Stop)
		row.Stop = &t
	}
	for _, s := range i.Subs {
		if details {
			row.SubsDetail = append(row.SubsDetail, detail(s, false))
		} else {
			row.Subs = append(row.Subs, s.Subject)
		}
	}
	return row
}
