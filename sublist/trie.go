package sublist

import (
	"strings"

	"github.com/natsd/natsd/subject"
)

// node is a place in the trie of wildcard subjects, reached from the root by
// the tokens of some prefix. It exists only where two subjects met, and from
// then on until nothing is left below it.
type node[T comparable] struct {
	literal edges[T]  // by a next token that is literal
	star    branch[T] // by "*" as the next token
	full    *leaf[T]  // prefix.>
	end     *leaf[T]  // the prefix itself
}

// branch is what one token leads to: nothing, a node, or the only leaf with
// that prefix, however many tokens follow. Of such a leaf, tail is the offset
// in its subject of what follows the token: len(subject) for nothing, else the
// start of the next token. A leaf in node.full or node.end has len(subject).
type branch[T comparable] struct {
	node *node[T]
	leaf *leaf[T]
}

// empty reports whether the branch leads to nothing.
func (b branch[T]) empty() bool { return b.node == nil && b.leaf == nil }

// empty reports whether nothing is below n.
func (n *node[T]) empty() bool {
	return n.end == nil && n.full == nil && n.star.empty() && n.literal.len() == 0
}

// after returns the offset of what follows the token of s that ends at end.
func after[S subject.Text](s S, end int) int { return min(end+1, len(s)) }

// insert returns the leaf of pattern, and whether it is new.
func (n *node[T]) insert(pattern []byte) (l *leaf[T], isNew bool) {
	for pos := 0; ; {
		end := subject.TokenEnd(pattern, pos)
		token, tail := pattern[pos:end], after(pattern, end)
		if isByte(token, subject.Full) {
			return place(&n.full, pattern)
		}
		b := n.branch(token)
		if b.empty() {
			l = newLeaf[T](pattern, tail)
			n.setBranch(l.subject[pos:end], branch[T]{leaf: l})
			return l, true
		}
		if b.leaf != nil {
			if b.leaf.subject == string(pattern) {
				return b.leaf, false
			}
			b = branch[T]{node: split(b.leaf)}
			// The token must not keep the leaf's whole subject alive.
			n.setBranch(strings.Clone(string(token)), b)
		}
		n = b.node
		if end == len(pattern) {
			return place(&n.end, pattern)
		}
		pos = tail
	}
}

// place returns the leaf at *at, which it fills if it is empty.
func place[T comparable](at **leaf[T], pattern []byte) (l *leaf[T], isNew bool) {
	if *at == nil {
		*at, isNew = newLeaf[T](pattern, len(pattern)), true
	}
	return *at, isNew
}

// newLeaf returns a leaf for the trie.
func newLeaf[T comparable](pattern []byte, tail int) *leaf[T] {
	return &leaf[T]{subject: string(pattern), tail: uint32(tail)}
}

// split returns a node to take the place of l in a branch, with l below it.
func split[T comparable](l *leaf[T]) *node[T] {
	n := &node[T]{}
	pos := int(l.tail)
	if pos == len(l.subject) {
		n.end = l
		return n
	}
	end := subject.TokenEnd(l.subject, pos)
	token := l.subject[pos:end]
	l.tail = uint32(after(l.subject, end))
	if isByte(token, subject.Full) {
		n.full = l
	} else {
		n.setBranch(token, branch[T]{leaf: l})
	}
	return n
}

// branch returns where token leads from n.
func (n *node[T]) branch(token []byte) branch[T] {
	if isByte(token, subject.Star) {
		return n.star
	}
	return n.literal.get(token)
}

// setBranch sets where token leads from n.
func (n *node[T]) setBranch(token string, b branch[T]) {
	if isByte(token, subject.Star) {
		n.star = b
	} else {
		n.literal.set(token, b)
	}
}

// remove takes the leaf of pattern, which is there, out from below n, together
// with the nodes that nothing is below of then.
func (n *node[T]) remove(pattern string) { n.removeFrom(pattern, 0) }

func (n *node[T]) removeFrom(pattern string, pos int) {
	end := subject.TokenEnd(pattern, pos)
	token := pattern[pos:end]
	if isByte(token, subject.Full) {
		n.full = nil
		return
	}
	b := n.star
	if !isByte(token, subject.Star) {
		b = n.literal.getString(token)
	}
	if b.node != nil {
		if end == len(pattern) {
			b.node.end = nil
		} else {
			b.node.removeFrom(pattern, end+1)
		}
		if !b.node.empty() {
			return
		}
	}
	if isByte(token, subject.Star) {
		n.star = branch[T]{}
	} else {
		n.literal.remove(token)
	}
}

// isByte reports whether token is the one byte c.
func isByte[S subject.Text](token S, c byte) bool {
	return len(token) == 1 && token[0] == c
}
