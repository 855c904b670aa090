package monitor

import "iter"

// Pages is a list that grows without being copied: to add to a long one takes no longer than to a short one. The zero value
// is empty.
type Pages[T any] struct {
	pages [][]T
	n     int
}

// pageMin and pageMax are how many entries the first page and the largest ones have.
const (
	pageMin = 8
	pageMax = 256
)

// Len is the number of entries.
func (p *Pages[T]) Len() int { return p.n }

// All are the entries, in order. They may be changed in place.
func (p *Pages[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, page := range p.pages {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}

// Add appends an entry and returns its place.
func (p *Pages[T]) Add(v T) *T {
	last := len(p.pages) - 1
	if last < 0 || len(p.pages[last]) == cap(p.pages[last]) {
		size := pageMin
		if last >= 0 {
			size = min(2*cap(p.pages[last]), pageMax)
		}
		p.pages = append(p.pages, make([]T, 0, size))
		last++
	}
	p.pages[last] = append(p.pages[last], v)
	p.n++
	return &p.pages[last][len(p.pages[last])-1]
}
