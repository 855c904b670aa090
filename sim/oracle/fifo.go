package oracle

// fifo is a queue in a ring. The zero value is ready.
type fifo[T any] struct {
	ring        []T
	first, size int
}

func (f *fifo[T]) len() int { return f.size }

// at returns the i-th entry; it is valid until the next push.
func (f *fifo[T]) at(i int) *T { return &f.ring[(f.first+i)&(len(f.ring)-1)] }

// push appends an entry and returns it to be filled: it holds what the slot held before.
func (f *fifo[T]) push() *T {
	if f.size == len(f.ring) {
		bigger := make([]T, max(8, 2*len(f.ring)))
		for i := range f.size {
			bigger[i] = *f.at(i)
		}
		f.ring, f.first = bigger, 0
	}
	f.size++
	return f.at(f.size - 1)
}

func (f *fifo[T]) pop() {
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.size--
}
