package monitor

import "errors"

// HealthzOptions say what has to be right.
type HealthzOptions struct {
	// JSEnabled is an older name of JSEnabledOnly.
	JSEnabled     bool   `json:"js-enabled,omitempty"`
	JSEnabledOnly bool   `json:"js-enabled-only,omitempty"`
	JSServerOnly  bool   `json:"js-server-only,omitempty"`
	JSMetaOnly    bool   `json:"js-meta-only,omitempty"`
	Account       string `json:"account,omitempty"`
	Stream        string `json:"stream,omitempty"`
	Consumer      string `json:"consumer,omitempty"`
	Details       bool   `json:"details,omitempty"`
	Aspect        Aspect `json:"aspect,omitempty"` // natsd's
}

func (HealthzOptions) question() {}

// Aspect is what kind of health is asked for. There are more reasons against each than against the one before.
type Aspect string

// The aspects.
const (
	Serving Aspect = ""        // as nats-server understands health
	Live    Aspect = "live"    // it goes on: to restart it would not help
	Ready   Aspect = "ready"   // it takes clients, and is not about to go
	Current Aspect = "current" // nothing that it has is behind, damaged or unavailable
)

func healthzQuery(r *reader) HealthzOptions {
	return HealthzOptions{
		JSEnabled: r.flag("js-enabled"), JSEnabledOnly: r.flag("js-enabled-only"), JSServerOnly: r.flag("js-server-only"),
		JSMetaOnly: r.flag("js-meta-only"), Account: r.text("account"), Stream: r.text("stream"), Consumer: r.text("consumer"),
		Details: r.flag("details"),
	}
}

// Check says what is wrong with the options, in nats-server's words: a consumer without its stream, a stream without its account.
func (o *HealthzOptions) Check() error {
	switch {
	case o.Stream == "" && o.Consumer != "":
		return errors.New(`"stream" must not be empty when checking consumer health`)
	case o.Account == "" && o.Stream != "":
		return errors.New(`"account" must not be empty when checking stream health`)
	}
	return nil
}

// Reason is why something is not healthy. Type is nats-server's: CONNECTION, BAD_REQUEST, ACCOUNT, STREAM, CONSUMER,
// JETSTREAM; natsd's own are in lower case.
type Reason struct {
	Type     string `json:"type"`
	Account  string `json:"account,omitempty"`
	Stream   string `json:"stream,omitempty"`
	Consumer string `json:"consumer,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Healthz is the answer. Code is the HTTP status; who asks by HTTP gets it as that alone.
type Healthz struct {
	Status string   `json:"status"`
	Code   int      `json:"status_code,omitempty"`
	Error  string   `json:"error,omitempty"`
	Errors []Reason `json:"errors,omitempty"`
}

// NewHealthz is the answer with reasons why not; none: all is well. One reason is told as a text unless details are wanted or
// there are more.
func NewHealthz(o HealthzOptions, reasons []Reason) *Healthz {
	if err := o.Check(); err != nil {
		reasons = []Reason{{Type: "BAD_REQUEST", Error: err.Error()}}
	}
	switch {
	case len(reasons) == 0:
		return &Healthz{Status: "ok", Code: 200}
	}
	h := &Healthz{Status: "unavailable", Code: 503, Error: reasons[0].Error}
	switch reasons[0].Type {
	case "BAD_REQUEST":
		h.Status, h.Code = "error", 400
	case "CONNECTION":
		h.Status, h.Code = "error", 500
	}
	if o.Details {
		h.Error = ""
	}
	if o.Details || len(reasons) > 1 {
		h.Errors = reasons
	}
	return h
}

// OK reports whether all is well.
func (h *Healthz) OK() bool { return h.Code == 200 }

// Body implements Answer.
func (h *Healthz) Body() (any, error) { return h, nil }
