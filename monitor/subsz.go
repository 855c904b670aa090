package monitor

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/natsd/natsd/subject"
	"github.com/natsd/natsd/sublist"
)

// SubszOptions say which subscriptions are wanted.
type SubszOptions struct {
	Offset        int    `json:"offset"`
	Limit         int    `json:"limit"`
	Subscriptions bool   `json:"subscriptions"` // list them, not only the counts
	Account       string `json:"account,omitempty"`
	Test          string `json:"test,omitempty"` // list only those that this subject reaches
}

func (SubszOptions) question() {}

func subszQuery(r *reader) SubszOptions {
	return SubszOptions{
		Offset: r.number("offset"), Limit: r.number("limit"), Subscriptions: r.flag("subs"), Account: r.text("acc"), Test: r.text("test"),
	}
}

// Check says what is wrong with the options, in nats-server's words: a subject to be tested that is none, or has wildcards.
func (o *SubszOptions) Check() error {
	if o.Test != "" && !subject.ValidLiteral(o.Test) {
		return fmt.Errorf("invalid test subject, must be valid publish subject: %s", o.Test)
	}
	return nil
}

// Sub is one subscription.
type Sub struct {
	Account string
	Subject string
	Queue   string
	SID     string
	Msgs    uint64
	Max     uint64
	CID     uint64
}

// subDetail is its JSON.
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

func (s *Sub) detail(account bool) subDetail {
	d := subDetail{Subject: s.Subject, Queue: s.Queue, SID: s.SID, Msgs: s.Msgs, Max: s.Max, CID: s.CID}
	if account {
		d.Account, d.Tag = s.Account, s.Account
	}
	return d
}

// Subsz is the answer: counts, and the subscriptions in the lists' own order, account by account. It is made over several
// turns: a subscription that lasts all the while is in it once, one that comes or goes once or not at all. The counts are
// those of the last of these turns.
type Subsz struct {
	Options  SubszOptions
	ServerID string
	Now      int64
	Stats    SublistStats
	Subs     Pages[Sub]
	Err      error
}

// SublistStats are the figures of lists of subscriptions.
type SublistStats struct {
	NumSubs   int         `json:"num_subscriptions"`
	NumCache  int         `json:"num_cache"`
	Inserts   uint64      `json:"num_inserts"`
	Removes   uint64      `json:"num_removes"`
	Matches   uint64      `json:"num_matches"`
	HitRate   json.Number `json:"cache_hit_rate"`
	MaxFanout int         `json:"max_fanout"`
	AvgFanout json.Number `json:"avg_fanout"`

	hits   uint64
	fanout int
}

// Add adds the figures of another list.
func (s *SublistStats) Add(l sublist.Stats) {
	s.NumSubs += l.Subs
	s.NumCache += l.Cached
	s.Inserts += l.Inserts
	s.Removes += l.Removes
	s.Matches += l.Matches
	s.MaxFanout = max(s.MaxFanout, l.FanoutMax)
	s.hits += l.Hits
	s.fanout += l.FanoutSum
	s.HitRate = ratio(s.hits, s.Matches)
	s.AvgFanout = ratio(uint64(s.fanout), uint64(s.NumCache))
}

// ratio is a / b, with nine places.
func ratio(a, b uint64) json.Number {
	if b == 0 {
		return "0"
	}
	const places = 1_000_000_000
	return json.Number(seconds(int64(a/b*places + a%b*places/b)))
}

type subsz struct {
	ServerID string    `json:"server_id"`
	Now      time.Time `json:"now"`
	SublistStats
	Total  int         `json:"total"`
	Offset int         `json:"offset"`
	Limit  int         `json:"limit"`
	Subs   []subDetail `json:"subscriptions_list,omitempty"`
}

// Body implements Answer.
func (a *Subsz) Body() (any, error) {
	if a.Err != nil {
		return nil, a.Err
	}
	offset, limit := bounds(a.Options.Offset, a.Options.Limit)
	out := &subsz{
		ServerID: a.ServerID, Now: Stamp(a.Now), SublistStats: a.Stats, Total: a.Subs.Len(), Offset: offset, Limit: limit,
	}
	for s := range a.Subs.All() {
		if offset > 0 {
			offset--
			continue
		}
		if len(out.Subs) == limit {
			break
		}
		out.Subs = append(out.Subs, s.detail(true))
	}
	return out, nil
}
