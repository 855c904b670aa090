package engine

// rota is what waits on behalf of accounts: that of one account in the order in which it came, that of several one by one in turns. So
// what an account wants much of does not keep others from the little that they want.
type rota[T any] struct {
	line  queue[*account] // with something that waits, and not held, or about to be seen to be; the first is the one whose turn it is
	of    map[*account]*backlog[T]
	n     int
	bytes int
}

// backlog is what waits on behalf of one account.
type backlog[T any] struct {
	queue[queued[T]]
	bytes  int
	held   int // for so many reasons
	inLine bool
}

type queued[T any] struct {
	what  T
	bytes int
}

func (r *rota[T]) empty() bool { return r.n == 0 }

// ready reports whether pop may find something.
func (r *rota[T]) ready() bool { return !r.line.empty() }

// backlogOf is that of an account, made where there is none.
func (r *rota[T]) backlogOf(a *account) *backlog[T] {
	b := r.of[a]
	if b == nil {
		if r.of == nil {
			r.of = make(map[*account]*backlog[T])
		}
		b = &backlog[T]{}
		r.of[a] = b
	}
	return b
}

// push has something wait on behalf of an account.
func (r *rota[T]) push(a *account, what T, bytes int) {
	b := r.backlogOf(a)
	b.push(queued[T]{what, bytes})
	r.n++
	r.bytes += bytes
	b.bytes += bytes
	r.settle(a, b)
}

// pop takes out what is next; false: all that waits is held.
func (r *rota[T]) pop() (a *account, what T, ok bool) {
	return r.popIf(func(*account) bool { return true })
}

// popIf is pop where accounts of which may is false are passed over.
func (r *rota[T]) popIf(may func(*account) bool) (a *account, what T, ok bool) {
	for range r.line.len() {
		a = r.line.pop()
		b := r.of[a]
		if b.inLine = false; b.held > 0 {
			continue
		}
		if !may(a) {
			b.inLine = true
			r.line.push(a)
			continue
		}
		q := b.pop()
		r.n--
		r.bytes -= q.bytes
		b.bytes -= q.bytes
		r.settle(a, b)
		return a, q.what, true
	}
	return nil, what, false
}

// hold has an account's wait until it is freed as often.
func (r *rota[T]) hold(a *account) { r.backlogOf(a).held++ }

func (r *rota[T]) free(a *account) {
	b := r.of[a]
	b.held--
	r.settle(a, b)
}

// holds reports whether an account's is held.
func (r *rota[T]) holds(a *account) bool {
	b := r.of[a]
	return b != nil && b.held > 0
}

// settle has an account's wait for its turn, or be forgotten where there is nothing.
func (r *rota[T]) settle(a *account, b *backlog[T]) {
	switch {
	case b.held > 0 || b.inLine:
	case !b.empty():
		b.inLine = true
		r.line.push(a)
	default:
		if delete(r.of, a); len(r.of) == 0 {
			*r = rota[T]{} // room is not kept
		}
	}
}

// fits reports whether there is room on behalf of an account, where so many may wait, and so many bytes: if all there is is taken, an
// account may have what it would have if it were divided.
func (r *rota[T]) fits(a *account, most, mostBytes int) bool {
	n, bytes := r.count(a)
	return mayJoin(r.n, n, most, r.accounts(a)) && (r.bytes < mostBytes || bytes < mostBytes/r.accounts(a))
}

// mayJoin reports whether another one may wait where n do, its account's own among them. One of each may in any case.
func mayJoin(n, own, most, accounts int) bool { return n < most || own < max(most/accounts, 1) }

// count is how much waits on behalf of an account.
func (r *rota[T]) count(a *account) (n, bytes int) {
	if b := r.of[a]; b != nil {
		return b.len(), b.bytes
	}
	return 0, 0
}

// accounts is on behalf of how many something waits, or is held, if something does of a.
func (r *rota[T]) accounts(a *account) int {
	if r.of[a] == nil {
		return len(r.of) + 1
	}
	return len(r.of)
}
