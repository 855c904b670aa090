package model

import "strings"

// MayPublish reports whether the lists let a user publish on subj. What they do not may still be a response.
func (u *User) MayPublish(subj string) bool {
	if u.May == nil {
		return true
	}
	l := &u.May.Publish
	if len(l.Allow) > 0 || u.May.Responses != nil {
		ok := false
		for _, rule := range l.Allow {
			ok = ok || matches(subj, rule)
		}
		if !ok {
			return false
		}
	}
	for _, rule := range l.Deny {
		if denies(subj, rule) {
			return false
		}
	}
	return true
}

// denies is matches for a rule that denies: it also speaks of subjects with empty tokens.
func denies(subj, rule string) bool {
	s, p := strings.Split(subj, "."), strings.Split(rule, ".")
	for i, t := range p {
		if t == ">" {
			return len(s) > i
		}
		if i >= len(s) || t != "*" && t != s[i] {
			return false
		}
	}
	return len(s) == len(p)
}

// Responses returns the limit of answers; nil if there is none.
func (u *User) Responses() *ResponseLimit {
	if u.May == nil {
		return nil
	}
	return u.May.Responses
}

// MaySubscribe reports whether a user may subscribe to a pattern, as a member of a queue group, or of none if queue is
// empty: the allow list must cover all that it can match, and the deny list not all.
func (u *User) MaySubscribe(pattern, queue string) bool {
	if u.May == nil {
		return true
	}
	l := &u.May.Subscribe
	var subjects []string
	for _, list := range [][]string{l.Allow, l.Deny} {
		for _, rule := range list {
			subj, _, _ := strings.Cut(rule, " ")
			subjects = append(subjects, subj)
		}
	}
	covered, left := true, false
	every(pattern, subjects, func(subj string) bool {
		covered = covered && l.allows(subj, queue)
		left = left || !l.denies(subj, queue)
		return covered
	})
	return covered && left
}

// MayReceive reports whether a user may get a message on subj, as a member of a queue group, or of none.
func (u *User) MayReceive(subj, queue string) bool {
	return u.May == nil || !u.May.Subscribe.denies(subj, queue)
}

// allows reports whether the allow list covers a subject. A rule with a queue is for members of that group, and where it
// matches it takes away from other groups what plain rules give them.
func (l *Lists) allows(subj, queue string) bool {
	if len(l.Allow) == 0 {
		return true
	}
	plain, mine, others := false, false, false
	for _, rule := range l.Allow {
		pattern, group, named := strings.Cut(rule, " ")
		switch {
		case !matches(subj, pattern):
		case !named:
			plain = true
		case queue != "" && matches(queue, group):
			mine = true
		default:
			others = true
		}
	}
	if queue == "" {
		return plain
	}
	return mine || plain && !others
}

func (l *Lists) denies(subj, queue string) bool {
	for _, rule := range l.Deny {
		pattern, group, named := strings.Cut(rule, " ")
		if denies(subj, pattern) && (!named || queue != "" && matches(queue, group)) {
			return true
		}
	}
	return false
}
