package engine

import "slices"

// queue is a line: who came first leaves first. To join or to leave takes the same time however long it is.
type queue[T any] struct {
	list  []T // those before first have left
	first int
}

func (q *queue[T]) empty() bool { return q.first == len(q.list) }

func (q *queue[T]) len() int { return len(q.list) - q.first }

// front is who leaves next.
func (q *queue[T]) front() T { return q.list[q.first] }

// all are those who wait; borrowed until the line changes.
func (q *queue[T]) all() []T { return q.list[q.first:] }

func (q *queue[T]) push(v T) {
	if q.first > len(q.list)/2 && len(q.list) == cap(q.list) { // so that each is moved once or so
		n := copy(q.list, q.list[q.first:])
		clear(q.list[n:])
		q.list, q.first = q.list[:n], 0
	}
	q.list = append(q.list, v)
}

func (q *queue[T]) pop() T {
	var none T
	v := q.list[q.first]
	q.list[q.first] = none
	if q.first++; q.first == len(q.list) {
		q.list, q.first = q.list[:0], 0
	}
	return v
}

// deleteFunc takes those out of whom f is true, which is called once for each, in their order.
func (q *queue[T]) deleteFunc(f func(T) bool) {
	n := len(slices.DeleteFunc(q.list[q.first:], f))
	q.list = q.list[:q.first+n]
	if n == 0 {
		*q = queue[T]{}
	}
}
