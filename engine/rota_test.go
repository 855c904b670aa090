package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// rotaModel is a rota told slowly.
type rotaModel struct {
	r        rota[int]
	accounts [4]*account
	waits    [4][]int
	held     [4]int
	last     [4]int // when it was an account's turn
	turns    int
	next     int
}

func (m *rotaModel) index(a *account) int {
	for i, b := range m.accounts {
		if a == b {
			return i
		}
	}
	return -1
}

func (m *rotaModel) push(t *rapid.T) {
	i := rapid.IntRange(0, 3).Draw(t, "account")
	m.next++
	if len(m.waits[i]) == 0 {
		m.last[i] = m.turns
	}
	m.waits[i] = append(m.waits[i], m.next)
	m.r.push(m.accounts[i], m.next, m.next%7)
}

func (m *rotaModel) pop(t *rapid.T) {
	a, v, ok := m.r.pop()
	if !ok {
		for i := range m.waits {
			if len(m.waits[i]) > 0 && m.held[i] == 0 {
				t.Fatalf("account %d waits, and nothing is next", i)
			}
		}
		return
	}
	i := m.index(a)
	if m.held[i] > 0 || len(m.waits[i]) == 0 || m.waits[i][0] != v {
		t.Fatalf("%d of account %d is next, held %d; there wait %v", v, i, m.held[i], m.waits[i])
	}
	m.waits[i] = m.waits[i][1:]
	m.turns++
	if m.turns-m.last[i] > len(m.accounts) {
		t.Fatalf("it was not the turn of account %d for %d", i, m.turns-m.last[i])
	}
	m.last[i] = m.turns
}

func (m *rotaModel) hold(t *rapid.T) {
	i := rapid.IntRange(0, 3).Draw(t, "account")
	m.held[i]++
	m.r.hold(m.accounts[i])
}

func (m *rotaModel) free(t *rapid.T) {
	i := rapid.IntRange(0, 3).Draw(t, "account")
	if m.held[i] == 0 {
		return
	}
	if m.held[i]--; m.held[i] == 0 {
		m.last[i] = m.turns
	}
	m.r.free(m.accounts[i])
}

func (m *rotaModel) check(t *rapid.T) {
	n, bytes, accounts := 0, 0, 0
	for i, w := range m.waits {
		n += len(w)
		for _, v := range w {
			bytes += v % 7
		}
		if len(w) > 0 || m.held[i] > 0 {
			accounts++
		}
		if m.r.holds(m.accounts[i]) != (m.held[i] > 0) {
			t.Fatalf("account %d is held %d times", i, m.held[i])
		}
	}
	if m.r.n != n || m.r.bytes != bytes || len(m.r.of) != accounts || m.r.empty() != (n == 0) {
		t.Fatalf("%d, %d bytes of %d accounts; want %d, %d of %d", m.r.n, m.r.bytes, len(m.r.of), n, bytes, accounts)
	}
}

// An account's comes in its order, unless it is held; nobody waits for more than one of each other account; nothing is left of those
// for whom nothing waits.
func TestRota(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m rotaModel
		for i := range m.accounts {
			m.accounts[i] = &account{}
		}
		t.Repeat(map[string]func(*rapid.T){"push": m.push, "pop": m.pop, "hold": m.hold, "free": m.free, "": m.check})
	})
}

// Where there is no room, who has less than its share may have that.
func TestRotaFits(t *testing.T) {
	var r rota[int]
	a, b := &account{}, &account{}
	for r.fits(a, 10, 1000) {
		r.push(a, 0, 1)
	}
	for r.fits(b, 10, 1000) {
		r.push(b, 0, 200)
	}
	if n, m := r.of[a].len(), r.of[b].len(); n != 10 || m != 5 {
		t.Errorf("%d and %d wait", n, m)
	}
	for r.fits(b, 100, 1000) {
		r.push(b, 0, 200)
	}
	for r.fits(a, 100, 1000) {
		r.push(a, 0, 100)
	}
	if n, m := r.of[a].bytes, r.of[b].bytes; n < 500 || n > 600 || m != 1000 {
		t.Errorf("%d and %d bytes wait", n, m)
	}
}
