package sublist

// edges maps literal tokens to branches. Few are searched one by one; many are
// kept in a map, which is never iterated.
type edges[T comparable] struct {
	few  []edge[T]
	many map[string]branch[T] // nil while few will do
}

// edge is one token and where it leads.
type edge[T comparable] struct {
	token string
	branch[T]
}

// fewMax is the largest number of edges searched one by one. A map is given up
// for a search when a quarter is left, so that neither happens all the time.
const fewMax = 8

// len returns the number of edges.
func (e *edges[T]) len() int { return len(e.few) + len(e.many) }

// get returns where token leads.
func (e *edges[T]) get(token []byte) branch[T] {
	if e.many != nil {
		return e.many[string(token)]
	}
	for i := range e.few {
		if e.few[i].token == string(token) {
			return e.few[i].branch
		}
	}
	return branch[T]{}
}

// getString returns where token leads.
func (e *edges[T]) getString(token string) branch[T] {
	if e.many != nil {
		return e.many[token]
	}
	if i := e.index(token); i >= 0 {
		return e.few[i].branch
	}
	return branch[T]{}
}

// index returns the place of token among the few, or -1.
func (e *edges[T]) index(token string) int {
	for i := range e.few {
		if e.few[i].token == token {
			return i
		}
	}
	return -1
}

// set makes token lead to b, and keeps the string.
func (e *edges[T]) set(token string, b branch[T]) {
	if e.many != nil {
		delete(e.many, token) // or the map would keep the old string
		e.many[token] = b
		return
	}
	if i := e.index(token); i >= 0 {
		e.few[i] = edge[T]{token, b}
		return
	}
	if len(e.few) < fewMax {
		e.few = append(e.few, edge[T]{token, b})
		return
	}
	e.many = make(map[string]branch[T], 2*fewMax)
	for _, f := range e.few {
		e.many[f.token] = f.branch
	}
	e.many[token] = b
	e.few = nil
}

// remove makes token lead nowhere.
func (e *edges[T]) remove(token string) {
	if e.many == nil {
		i := e.index(token)
		copy(e.few[i:], e.few[i+1:])
		e.few[len(e.few)-1] = edge[T]{}
		e.few = e.few[:len(e.few)-1]
		if len(e.few) == 0 {
			e.few = nil
		}
		return
	}
	delete(e.many, token)
	if len(e.many) > fewMax/4 {
		return
	}
	few := make([]edge[T], 0, fewMax)
	for t, b := range e.many { //natsd:orderfree the order of few is never seen: tokens in it are distinct and looked up by value
		few = append(few, edge[T]{t, b})
	}
	e.few, e.many = few, nil
}
