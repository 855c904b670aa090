package oracle

// index finds the subscriptions that the server may believe in by a subject. Each lies in the bucket of its literal
// tokens before the first wildcard, so a subject has one bucket for each of its prefixes and one for the whole.
type index struct {
	literal map[string]*bucket // patterns without wildcards, by pattern
	prefix  map[string]*bucket // the others, by what precedes the wildcard and its dot
	memo    map[string]*matches
	version uint64
}

type bucket struct {
	key  string
	subs []*sub
}

// matches are the subscriptions that a subject reaches.
type matches struct {
	version uint64
	plain   []*sub
	groups  []groupMatch
}

type groupMatch struct {
	group   *group
	members []*sub
	entry   int
}

// A subject is remembered when it reaches at least memoFrom subscriptions; at most memoMost subjects are.
const (
	memoFrom = 8
	memoMost = 1024
)

func newIndex() index {
	return index{literal: make(map[string]*bucket), prefix: make(map[string]*bucket), memo: make(map[string]*matches)}
}

// literalPrefix is the part of a pattern before the dot that precedes its first wildcard token.
func literalPrefix(pattern string) (prefix string, wild bool) {
	for pos := 0; ; {
		end := tokenEnd(pattern, pos)
		if pattern[pos:end] == star || pattern[pos:end] == full {
			return pattern[:max(pos-1, 0)], true
		}
		if end == len(pattern) {
			return pattern, false
		}
		pos = end + 1
	}
}

func (x *index) add(s *sub) {
	x.version++
	prefix, wild := literalPrefix(s.pattern)
	m := x.literal
	if wild {
		m = x.prefix
	}
	b := m[prefix]
	if b == nil {
		b = &bucket{key: prefix}
		m[prefix] = b
	}
	s.at, s.slot = b, len(b.subs)
	b.subs = append(b.subs, s)
}

func (x *index) remove(s *sub) {
	x.version++
	b := s.at
	last := len(b.subs) - 1
	moved := b.subs[last]
	b.subs[s.slot] = moved
	moved.slot = s.slot
	b.subs[last] = nil
	b.subs = b.subs[:last]
	s.at = nil
	if last > 0 {
		return
	}
	if x.literal[b.key] == b {
		delete(x.literal, b.key)
	} else {
		delete(x.prefix, b.key)
	}
}

// find fills scratch with what subj reaches, or returns what is remembered. It is valid until the index changes.
func (x *index) find(subj string, scratch *matches) *matches {
	if m := x.memo[subj]; m != nil && m.version == x.version {
		return m
	}
	scratch.reset()
	if !hasEmptyToken(subj) {
		if b := x.literal[subj]; b != nil {
			for _, s := range b.subs {
				scratch.add(s)
			}
		}
		x.walk(subj, scratch)
	}
	if n := scratch.count(); n >= memoFrom {
		if len(x.memo) >= memoMost {
			clear(x.memo)
		}
		m := scratch.clone()
		m.version = x.version
		x.memo[subj] = m
		return m
	}
	return scratch
}

func (x *index) walk(subj string, into *matches) {
	if len(x.prefix) == 0 {
		return
	}
	for end := 0; ; end = tokenEnd(subj, end+1) {
		if b := x.prefix[subj[:end]]; b != nil {
			for _, s := range b.subs {
				if reaches(subj, s.pattern) {
					into.add(s)
				}
			}
		}
		if end == len(subj) {
			return
		}
		if end == 0 {
			end = -1 // the first token begins at the start, not behind a dot
		}
	}
}

func (m *matches) reset() {
	m.plain = m.plain[:0]
	m.groups = m.groups[:0]
}

func (m *matches) add(s *sub) {
	if s.group == nil {
		m.plain = append(m.plain, s)
		return
	}
	for i := range m.groups {
		if m.groups[i].group == s.group {
			m.groups[i].members = append(m.groups[i].members, s)
			return
		}
	}
	if len(m.groups) < cap(m.groups) { // use the room of an earlier search again
		m.groups = m.groups[:len(m.groups)+1]
		g := &m.groups[len(m.groups)-1]
		g.group, g.members = s.group, append(g.members[:0], s)
		return
	}
	m.groups = append(m.groups, groupMatch{group: s.group, members: []*sub{s}})
}

func (m *matches) count() int {
	n := len(m.plain)
	for i := range m.groups {
		n += len(m.groups[i].members)
	}
	return n
}

func (m *matches) clone() *matches {
	c := &matches{plain: append([]*sub(nil), m.plain...)}
	for i := range m.groups {
		g := &m.groups[i]
		c.groups = append(c.groups, groupMatch{group: g.group, members: append([]*sub(nil), g.members...)})
	}
	return c
}

// unindex notes that the server does not believe in the subscription any more.
func (o *Oracle) unindex(s *sub) {
	if s.at == nil {
		return
	}
	s.in.remove(s)
	c := s.conn
	last := len(c.indexed) - 1
	moved := c.indexed[last]
	c.indexed[s.place] = moved
	moved.place = s.place
	c.indexed[last] = nil
	c.indexed = c.indexed[:last]
	if s.group != nil {
		s.group.left()
		if c.ended != 0 && c.gone == 0 {
			s.group.ghosts--
		}
	}
}
