package monitor

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Question is what is asked: one of the types of options.
type Question interface{ question() }

// Answer is what came of a Question, with all that its options ask for.
type Answer interface {
	// Body is the value whose JSON is the answer, or why there is none, in nats-server's words. It may be called once, by
	// whoever owns the answer, and takes as long as the answer is long.
	Body() (any, error)
}

// Encode is the JSON of a body as nats-server writes it. It fails for what has no JSON, which no Answer's body is.
func Encode(body any) ([]byte, error) { return json.MarshalIndent(body, "", "  ") }

// names are the questions by the last part of their URLs.
var names = map[string]struct {
	query func(*reader) Question
	json  func([]byte) (Question, error)
}{
	"varz":           {func(*reader) Question { return VarzOptions{} }, parse[VarzOptions]},
	"connz":          {func(r *reader) Question { return connzQuery(r) }, parse[ConnzOptions]},
	"subsz":          {func(r *reader) Question { return subszQuery(r) }, parse[SubszOptions]},
	"subscriptionsz": {func(r *reader) Question { return subszQuery(r) }, parse[SubszOptions]},
	"routez":         {func(r *reader) Question { return routezQuery(r) }, parse[RoutezOptions]},
	"gatewayz":       {func(r *reader) Question { return gatewayzQuery(r) }, parse[GatewayzOptions]},
	"leafz":          {func(r *reader) Question { return leafzQuery(r) }, parse[LeafzOptions]},
	"accountz":       {func(r *reader) Question { return AccountzOptions{Account: r.text("acc")} }, parse[AccountzOptions]},
	"accstatz":       {func(r *reader) Question { return accountStatzQuery(r) }, parse[AccountStatzOptions]},
	"jsz":            {func(r *reader) Question { return jszQuery(r) }, parse[JszOptions]},
	"healthz":        {func(r *reader) Question { return healthzQuery(r) }, parse[HealthzOptions]},
	"raftz":          {func(r *reader) Question { return raftzQuery(r) }, parse[RaftzOptions]},
	"ipqueuesz":      {func(r *reader) Question { return queueszQuery(r) }, parse[QueueszOptions]},
	"metrics":        {func(*reader) Question { return MetricsOptions{} }, parse[MetricsOptions]},
}

// Known reports whether there is a question of that name.
func Known(name string) bool { _, ok := names[strings.ToLower(name)]; return ok }

// FromQuery reads a question from the query of a URL whose path ends in name. What it does not know it passes over, as
// nats-server does. The error is nats-server's, about the first value that can't be read, or says that there is no such page.
func FromQuery(name string, q url.Values) (Question, error) {
	kind, ok := names[name]
	if !ok {
		return nil, fmt.Errorf("there is no %s", name)
	}
	r := &reader{values: q}
	question := kind.query(r)
	if r.err != nil {
		return nil, r.err
	}
	return question, nil
}

// FromJSON reads a question from the body of a request to a service called name, in any case of letters. An empty body has no
// options. The error says that there is no such service, or is that of package json.
func FromJSON(name string, body []byte) (Question, error) {
	kind, ok := names[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("there is no %s", name)
	}
	return kind.json(body)
}

func parse[T Question](body []byte) (Question, error) {
	var o T
	if len(body) > 0 {
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, err
		}
	}
	return o, nil
}
