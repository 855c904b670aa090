package permission

import "github.com/natsd/natsd/subject"

// Explanation says which rule decides, for people.
type Explanation struct {
	Allowed bool `json:"allowed"`
	// List is the list that decides: "publish.allow" and so on, "responses" for
	// the closing of publish by response permissions, "" if no list has a say.
	List string `json:"list,omitempty"`
	// Rule is the entry that decides, as it was written; "" if the absence of
	// one does. Where several rules cover a subscription together it is one of them.
	Rule string `json:"rule,omitempty"`
	// Filter is a rule of subscribe.deny that takes a part of an accepted
	// subscription away; there may be more.
	Filter string `json:"filter,omitempty"`
}

// ExplainPublish says why CanPublish answers as it does.
func (s *Set) ExplainPublish(subj []byte) Explanation {
	anyone := asker{plain: true}
	if s.publish.deny != nil {
		if r := s.publish.deny.match(subj, &anyone); r != nil {
			return Explanation{List: "publish.deny", Rule: r.text}
		}
	}
	if s.publish.allow == nil {
		if s.closed {
			return Explanation{List: "responses"}
		}
		return Explanation{Allowed: true}
	}
	r := s.publish.allow.match(subj, &anyone)
	if r == nil || subject.HasEmptyToken(subj) {
		return Explanation{List: "publish.allow"}
	}
	return Explanation{Allowed: true, List: "publish.allow", Rule: r.text}
}

// ExplainSubscribe says why CanSubscribe answers as it does.
func (s *Set) ExplainSubscribe(subj, queue []byte) Explanation {
	e := Explanation{Allowed: true}
	if s.subscribe.allow != nil {
		e.List = "subscribe.allow"
		r, ok := s.allows(subj, queue)
		if r != nil {
			e.Rule = r.text
		}
		if !ok {
			e.Allowed = false
			return e
		}
	}
	if s.subscribe.deny == nil {
		return e
	}
	who := denied(queue)
	if r := s.subscribe.deny.covers(alone(subj), &who); r != nil {
		return Explanation{List: "subscribe.deny", Rule: r.text}
	}
	if r := s.subscribe.deny.touches(subj, &who); r != nil {
		e.Filter = r.text
	}
	return e
}
