package permission

import (
	"cmp"
	"slices"

	"github.com/natsd/natsd/subject"
)

// tree holds the rules of a list by the tokens of their subjects.
type tree struct {
	root node
	size int // rules
}

// node is where the rules are that begin with the tokens on the way to it.
type node struct {
	edges []edge           // by token
	many  map[string]*node // the same edges once there are many; only looked up in
	star  *node
	here  *terminal // the rules that end here
	full  *terminal // the rules that go on with ">" and end
}

// edge is a literal token and where it leads.
type edge struct {
	token string
	to    *node
}

// edgesFew is how many edges are searched one by one.
const edgesFew = 8

// terminal has the rules of one subject.
type terminal struct {
	subject []byte
	plain   *rule // without queue
	queues  *tree // the queues of the others, as subjects of plain rules
}

// asker says for whom the rules of a terminal are looked at.
type asker struct {
	plain bool   // rules without queue count
	group bool   // rules with queues count, if these match
	queue []byte // the name of the group
}

// newTree returns the tree of rules, nil if there are none.
func newTree(list []string, queues bool) (*tree, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &tree{}
	for _, text := range list {
		r, err := parseRule(text, queues)
		if err != nil {
			return nil, err
		}
		t.insert(&r, r.subject, r.queue)
	}
	t.root.index()
	return t, nil
}

// insert puts r under subj.
func (t *tree) insert(r *rule, subj, queue string) {
	n, at := &t.root, &t.root.here
	for pos := 0; pos <= len(subj); {
		end := subject.TokenEnd(subj, pos)
		switch tok := subj[pos:end]; tok {
		case ">":
			at = &n.full
		case "*":
			if n.star == nil {
				n.star = &node{}
			}
			n = n.star
			at = &n.here
		default:
			n = n.grow(tok)
			at = &n.here
		}
		pos = end + 1
	}
	if *at == nil {
		*at = &terminal{subject: []byte(subj)}
	}
	t.size++
	if queue == "" {
		(*at).plain = r
		return
	}
	if (*at).queues == nil {
		(*at).queues = &tree{}
	}
	(*at).queues.insert(r, queue, "")
}

// grow returns where tok leads, and makes the way if there is none. While a
// tree is made, the map of a node with many edges knows all of them, and the
// list is put in order at the end.
func (n *node) grow(tok string) *node {
	if to := n.child([]byte(tok)); to != nil {
		return to
	}
	to := &node{}
	n.edges = append(n.edges, edge{tok, to})
	if n.many != nil {
		n.many[tok] = to
	} else if len(n.edges) > edgesFew {
		n.many = make(map[string]*node, 2*len(n.edges))
		for _, e := range n.edges {
			n.many[e.token] = e.to
		}
	}
	return to
}

// index puts the edges of n and of all below it in order.
func (n *node) index() {
	slices.SortFunc(n.edges, func(a, b edge) int { return cmp.Compare(a.token, b.token) })
	for _, e := range n.edges {
		e.to.index()
	}
	if n.star != nil {
		n.star.index()
	}
	for _, t := range []*terminal{n.here, n.full} {
		if t != nil && t.queues != nil {
			t.queues.root.index()
		}
	}
}

// child returns where a literal token leads, or nil.
func (n *node) child(tok []byte) *node {
	if n.many != nil {
		return n.many[string(tok)]
	}
	for i := range n.edges {
		if n.edges[i].token == string(tok) {
			return n.edges[i].to
		}
	}
	return nil
}

// hit returns a rule of t that counts for who, or nil.
func (t *terminal) hit(who *asker) *rule {
	if t == nil {
		return nil
	}
	if who.plain && t.plain != nil {
		return t.plain
	}
	if who.group && t.queues != nil {
		return t.queues.match(who.queue, &asker{plain: true})
	}
	return nil
}

// match returns a rule that counts for who and matches the literal subj, or
// nil. Empty tokens of subj are matched by wildcards like others.
func (t *tree) match(subj []byte, who *asker) *rule {
	return t.root.match(subj, 0, who)
}

// match is tree.match for what begins at pos. Each node is visited once at
// most, since the way to it tells how many tokens are behind.
func (n *node) match(subj []byte, pos int, who *asker) *rule {
	if r := n.full.hit(who); r != nil {
		return r
	}
	end := subject.TokenEnd(subj, pos)
	next := n.child(subj[pos:end])
	for range 2 {
		if next != nil {
			var r *rule
			if end == len(subj) {
				r = next.here.hit(who)
			} else {
				r = next.match(subj, end+1, who)
			}
			if r != nil {
				return r
			}
		}
		next = n.star
	}
	return nil
}
