package permission

import (
	"fmt"
	"strings"

	"github.com/natsd/natsd/subject"
)

// Spec is what a user may do, as it is configured. Its JSON is what nats-server
// says in answer to $SYS.REQ.USER.INFO.
type Spec struct {
	Publish   Lists          `json:"publish"`
	Subscribe Lists          `json:"subscribe"`
	Responses *ResponseLimit `json:"responses,omitempty"` // nil: no response permissions
}

// Lists are the rules for one direction. An empty list is like none.
type Lists struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// ResponseLimit says how a client may answer requests to it whose reply
// subject it could not publish on.
type ResponseLimit struct {
	Max     int   `json:"max"` // messages for each request; 0 means 1, negative no limit
	Expires int64 `json:"ttl"` // nanoseconds after the request; 0 means 2 minutes, negative never
}

// What nats-server takes 0 for.
const (
	ResponseMaxDefault     = 1
	ResponseExpiresDefault = 120_000_000_000 // nanoseconds
)

// withDefaults returns l with its defaults filled in.
func (l ResponseLimit) withDefaults() ResponseLimit {
	if l.Max == 0 {
		l.Max = ResponseMaxDefault
	}
	if l.Expires == 0 {
		l.Expires = ResponseExpiresDefault
	}
	return l
}

// rule is one entry of a list.
type rule struct {
	text    string // as it was written
	subject string
	queue   string // "" for a plain rule
}

// parseRule reads an entry. Only entries for subscriptions may have a queue.
// The errors are nats-server's.
func parseRule(text string, queues bool) (rule, error) {
	r := rule{text: text, subject: text}
	if fields := strings.Fields(text); queues && len(fields) == 2 {
		r.subject, r.queue = fields[0], fields[1]
	}
	if !subject.ValidPattern(r.subject) {
		return rule{}, fmt.Errorf("subject %q is not a valid subject", r.subject)
	}
	if r.queue != "" && !subject.ValidPattern(r.queue) {
		return rule{}, fmt.Errorf("queue %q is not a valid queue", r.queue)
	}
	return r, nil
}

// CheckRule checks an entry of a list; those for subscriptions may be
// "subject queue". Compile reports the same errors.
func CheckRule(text string, subscribe bool) error {
	_, err := parseRule(text, subscribe)
	return err
}
