package permission

import "github.com/natsd/natsd/subject"

// What a list covers of a subscription is more than what one of its rules
// covers, but not much more. Take a pattern of a fixed number of tokens, and
// the subject that has in place of each "*" a token that no rule mentions. A
// rule that matches this subject has wildcards in all these places, so it
// covers the whole pattern: if several rules cover the pattern together, one
// alone does. A pattern that ends in ">" is the union of the patterns that have
// one star, two stars, … in that place; each of these is covered by one rule,
// or the pattern is not covered. From some length on, that must be a rule that
// ends in ">" itself, and it covers all that are longer.
//
// The questions about queue groups are about the overlap of two patterns, which
// is a pattern again: token by token the more special one. A cursor walks along
// both at once, so that nothing has to be put together.

// cursor is a place in the overlap of two patterns. The overlap must not be
// empty.
type cursor struct {
	a, b []byte // b is nil for a alone
	i, j int    // where the next tokens begin, which is at ">" while it goes on; beyond the end: there are none
}

// alone returns a cursor at the beginning of pattern a.
func alone(a []byte) cursor { return cursor{a: a} }

// overlap returns a cursor at the beginning of the overlap of a and b.
func overlap(a, b []byte) cursor { return cursor{a: a, b: b} }

// open reports whether only ">" is left: one token or more, any.
func (c *cursor) open() bool {
	return isFull(c.a, c.i) && (c.b == nil || isFull(c.b, c.j))
}

// isFull reports whether the token of p that begins at i is ">".
func isFull(p []byte, i int) bool { return i == len(p)-1 && p[i] == subject.Full }

// next returns the next token, nil for one that may be any, and the cursor
// behind it. There must be one.
func (c cursor) next() ([]byte, cursor) {
	tok, i := step(c.a, c.i)
	c.i = i
	if c.b == nil {
		return tok, c
	}
	other, j := step(c.b, c.j)
	c.j = j
	if tok == nil {
		tok = other
	}
	return tok, c
}

// step returns the token of p that begins at i, nil for a wildcard, and where
// the next one begins. ">" is left only when the other pattern ends.
func step(p []byte, i int) (tok []byte, next int) {
	if isFull(p, i) {
		return nil, i
	}
	end := subject.TokenEnd(p, i)
	if end == i+1 && p[i] == subject.Star {
		return nil, end + 1
	}
	return p[i:end], end + 1
}

// done reports whether the overlap ends here. Where both patterns are in a
// ">" it may go on as well, which the caller sees by open.
func (c *cursor) done() bool {
	if c.b == nil {
		return c.i > len(c.a)
	}
	return c.i > len(c.a) || c.j > len(c.b)
}

// covers returns a rule that has part in covering what c stands for, the last
// one if there are several, or nil if it is not covered whole.
func (t *tree) covers(c cursor, who *asker) *rule {
	for extra := 0; ; extra++ {
		// A rule that ends in ">" covers everything longer too.
		if r := t.root.coversBy(c, extra, true, who); r != nil {
			return r
		}
		r := t.root.coversBy(c, extra, false, who)
		if r == nil || !t.endless(c) {
			return r
		}
	}
}

// endless reports whether what c stands for has no longest subject.
func (t *tree) endless(c cursor) bool {
	for !c.done() {
		if c.open() {
			return true
		}
		_, c = c.next()
	}
	return false
}

// coversBy returns a rule that covers what c stands for, with 1+extra tokens
// for its open end. full says whether to look for rules that end in ">" or for
// the others.
func (n *node) coversBy(c cursor, extra int, full bool, who *asker) *rule {
	if full {
		if r := n.full.hit(who); r != nil {
			return r
		}
	}
	open := c.open()
	tok, c := c.next()
	last := c.done()
	if open {
		last = extra == 0
		extra--
	}
	var next *node
	if tok != nil {
		next = n.child(tok)
	}
	for range 2 {
		if next != nil {
			var r *rule
			switch {
			case !last:
				r = next.coversBy(c, extra, full, who)
			case !full:
				r = next.here.hit(who)
			}
			if r != nil {
				return r
			}
		}
		next = n.star
	}
	return nil
}

// touches returns a rule that covers some of the subjects of pattern p, or nil.
func (t *tree) touches(p []byte, who *asker) *rule {
	return t.root.visit(p, 0, func(t *terminal) *rule { return t.hit(who) })
}

// visit calls judge for the terminals whose subjects overlap p, of which what
// begins at pos is left, until it returns a rule.
func (n *node) visit(p []byte, pos int, judge func(*terminal) *rule) *rule {
	if n.full != nil {
		if r := judge(n.full); r != nil {
			return r
		}
	}
	if isFull(p, pos) {
		return n.below(judge)
	}
	tok, next := step(p, pos)
	if tok != nil {
		if to := n.child(tok); to != nil {
			if r := to.arrive(p, next, judge); r != nil {
				return r
			}
		}
	} else {
		for _, e := range n.edges {
			if r := e.to.arrive(p, next, judge); r != nil {
				return r
			}
		}
	}
	if n.star != nil {
		return n.star.arrive(p, next, judge)
	}
	return nil
}

// arrive goes on at n, behind a token of p.
func (n *node) arrive(p []byte, pos int, judge func(*terminal) *rule) *rule {
	if pos <= len(p) {
		return n.visit(p, pos, judge)
	}
	if n.here != nil {
		return judge(n.here)
	}
	return nil
}

// below calls judge for all terminals of the nodes below n.
func (n *node) below(judge func(*terminal) *rule) *rule {
	for _, e := range n.edges {
		if r := e.to.all(judge); r != nil {
			return r
		}
	}
	if n.star != nil {
		return n.star.all(judge)
	}
	return nil
}

// all calls judge for the terminals of n and of all nodes below.
func (n *node) all(judge func(*terminal) *rule) *rule {
	for _, t := range [...]*terminal{n.here, n.full} {
		if t != nil {
			if r := judge(t); r != nil {
				return r
			}
		}
	}
	return n.below(judge)
}
