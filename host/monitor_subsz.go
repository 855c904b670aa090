package host

import (
	"fmt"
	"net/http"
	"time"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/subject"
)

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

func detail(s *engine.SubInfo, account bool) subDetail {
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
	o := engine.SubszOptions{Test: q.Get("test")}
	if o.List, err = flag(q, "subs"); err != nil {
		return nil, err
	}
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
		ServerID: s.ServerID, Now: stamp(s.Now), Offset: offset, Limit: limit, Total: s.Subs.Len(),
		NumSubs: s.Stats.Subs, NumCache: s.Stats.Cached, Inserts: s.Stats.Inserts, Removes: s.Stats.Removes,
		Matches: s.Stats.Matches, MaxFanout: s.Stats.FanoutMax,
		HitRate: ratio(s.Stats.Hits, s.Stats.Matches), AvgFanout: ratio(uint64(s.Stats.FanoutSum), uint64(s.Stats.Cached)),
	}
	for sub := range s.Subs.All() {
		if offset > 0 {
			offset--
			continue
		}
		if len(out.Subs) == limit {
			break
		}
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
