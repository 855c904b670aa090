package permission

import "github.com/natsd/natsd/subject"

// Set is a Spec made ready to answer. It never changes and may be shared.
type Set struct {
	spec      Spec
	publish   lists
	subscribe lists
	closed    bool // nothing may be published but what publish.allow covers, even if there is no such list
}

// lists are the rules for one direction; a list without rules is nil.
type lists struct{ allow, deny *tree }

// Verdict is the answer to a wish to subscribe.
type Verdict uint8

// The verdicts.
const (
	Denied   Verdict = iota // refused
	Allowed                 // accepted; everything that it matches may be delivered
	Filtered                // accepted; MayDeliver must be asked for each message
)

// Compile makes spec ready. It keeps the strings of spec, not its slices. The
// errors are those of CheckRule.
func Compile(spec Spec) (*Set, error) {
	s := &Set{spec: spec.clone()}
	for _, l := range []struct {
		to     **tree
		list   []string
		queues bool
	}{
		{&s.publish.allow, spec.Publish.Allow, false},
		{&s.publish.deny, spec.Publish.Deny, false},
		{&s.subscribe.allow, spec.Subscribe.Allow, true},
		{&s.subscribe.deny, spec.Subscribe.Deny, true},
	} {
		t, err := newTree(l.list, l.queues)
		if err != nil {
			return nil, err
		}
		*l.to = t
	}
	s.closed = spec.Responses != nil && s.publish.allow == nil
	return s, nil
}

// CanPublish reports whether a message may be published on subj. Where
// Responses gives a limit, what is refused may still be a response: ask Grants.
func (s *Set) CanPublish(subj []byte) bool {
	anyone := asker{plain: true}
	if s.publish.allow != nil {
		// No subscription matches a subject with an empty token, so no rule
		// allows one. (For a deny, a wildcard that matches too much is safe.)
		if s.publish.allow.match(subj, &anyone) == nil || subject.HasEmptyToken(subj) {
			return false
		}
	} else if s.closed {
		return false
	}
	return s.publish.deny == nil || s.publish.deny.match(subj, &anyone) == nil
}

// CanSubscribe says whether a subscription to the pattern subj is accepted, as a
// member of the given queue group, or as none if queue is empty. A ">" that is
// not the last token, which a valid pattern does not have, is a token like others.
func (s *Set) CanSubscribe(subj, queue []byte) Verdict {
	if s.subscribe.allow != nil {
		if _, ok := s.allows(subj, queue); !ok {
			return Denied
		}
	}
	deny := s.subscribe.deny
	if deny == nil {
		return Allowed
	}
	who := denied(queue)
	if deny.covers(alone(subj), &who) != nil {
		return Denied
	}
	if deny.touches(subj, &who) != nil {
		return Filtered
	}
	return Allowed
}

// MayDeliver reports whether a message on subj may be given to a subscription
// of the given queue group, empty for none. Only subscriptions whose Verdict
// was Filtered need it.
func (s *Set) MayDeliver(queue, subj []byte) bool {
	if s.subscribe.deny == nil {
		return true
	}
	who := denied(queue)
	return s.subscribe.deny.match(subj, &who) == nil
}

// denied returns the asker for deny lists: plain rules speak of everybody.
func denied(queue []byte) asker {
	return asker{plain: true, group: len(queue) > 0, queue: queue}
}

// allows reports whether the allow list covers all that subj can match, and
// returns a rule that has part in it, or the rule that forbids it, if any.
//
// For a member of a queue group a subject is allowed by a rule with a queue
// that matches the group, and by a plain rule unless rules with queues match
// the subject but not the group. So two things must hold: rules of both kinds
// cover subj together, and where a rule for other groups overlaps subj, rules
// for this group cover the overlap.
func (s *Set) allows(subj, queue []byte) (*rule, bool) {
	allow := s.subscribe.allow
	who := asker{plain: true, group: len(queue) > 0, queue: queue}
	r := allow.covers(alone(subj), &who)
	if r == nil || !who.group {
		return r, r != nil
	}
	member := asker{group: true, queue: queue}
	other := allow.root.visit(subj, 0, func(t *terminal) *rule {
		if t.queues == nil || t.hit(&member) != nil || allow.covers(overlap(subj, t.subject), &member) != nil {
			return nil
		}
		return t.queues.any()
	})
	if other != nil {
		return other, false
	}
	return r, true
}

// any returns some rule of t.
func (t *tree) any() *rule {
	return t.root.all(func(t *terminal) *rule { return t.plain })
}

// Responses returns the limit of response permissions with its defaults filled
// in; ok is false if there are none.
func (s *Set) Responses() (limit ResponseLimit, ok bool) {
	if s.spec.Responses == nil {
		return ResponseLimit{}, false
	}
	return *s.spec.Responses, true
}

// Unlimited reports whether s forbids nothing, so that nobody need ask.
func (s *Set) Unlimited() bool {
	return s.publish == (lists{}) && s.subscribe == (lists{}) && !s.closed
}

// Spec returns a copy of what s was compiled from, with the defaults of
// Responses filled in, for monitoring to show.
func (s *Set) Spec() Spec { return s.spec.clone() }

// clone returns a copy of s that shares no memory with it but strings, with
// defaults filled in.
func (s Spec) clone() Spec {
	for _, l := range []*[]string{&s.Publish.Allow, &s.Publish.Deny, &s.Subscribe.Allow, &s.Subscribe.Deny} {
		*l = append([]string(nil), *l...)
	}
	if s.Responses != nil {
		limit := s.Responses.withDefaults()
		s.Responses = &limit
	}
	return s
}
