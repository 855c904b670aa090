package engine

// segment is a run of bytes to be written, within a chunk that it holds a reference to.
type segment struct {
	b  []byte
	ck *chunk
}

// outQueue is what waits to be written to one connection, in order. Empty, it holds no buffer.
type outQueue struct {
	segs    []segment
	head    int // segs before it have been written
	pending int // bytes in segs[head:]
}

// extend returns n contiguous bytes at the end of the queue for the caller to fill.
func (q *outQueue) extend(p *chunkPool, n int) []byte {
	q.pending += n
	if k := len(q.segs); k > q.head {
		last := &q.segs[k-1]
		if used := len(last.b); cap(last.b)-used >= n {
			last.b = last.b[:used+n]
			return last.b[used : used+n : used+n]
		}
	}
	return q.grow(p, n)
}

func (q *outQueue) grow(p *chunkPool, n int) []byte {
	size := n
	if q.pending > n && size < bigChunk {
		size = bigChunk // not the first chunk: more will follow
	}
	ck := p.get(size)
	q.push(segment{b: ck.data[:n], ck: ck})
	return ck.data[:n:n]
}

// share appends b, a part of ck, without copying.
func (q *outQueue) share(ck *chunk, b []byte) {
	q.pending += len(b)
	ck.refs++
	// The chunk that was being filled goes on behind b, if it has room worth it.
	var rest segment
	if k := len(q.segs); k > q.head {
		if last := &q.segs[k-1]; cap(last.b)-len(last.b) >= 256 {
			rest = segment{b: last.b[len(last.b):len(last.b):cap(last.b)], ck: last.ck}
			last.b = last.b[:len(last.b):len(last.b)]
			last.ck.refs++
		}
	}
	q.push(segment{b: b[:len(b):len(b)], ck: ck})
	if rest.ck != nil {
		q.push(rest)
	}
}

func (q *outQueue) push(s segment) {
	if q.head > 0 && len(q.segs) == cap(q.segs) {
		n := copy(q.segs, q.segs[q.head:])
		clear(q.segs[n:])
		q.segs, q.head = q.segs[:n], 0
	}
	q.segs = append(q.segs, s)
}

// vectors appends the waiting bytes to iov, at most limit slices of them.
func (q *outQueue) vectors(iov [][]byte, limit int) [][]byte {
	for i := q.head; i < len(q.segs) && len(iov) < limit; i++ {
		if len(q.segs[i].b) > 0 {
			iov = append(iov, q.segs[i].b)
		}
	}
	return iov
}

// written removes the first n bytes.
func (q *outQueue) written(p *chunkPool, n int) {
	q.pending -= n
	for q.head < len(q.segs) {
		s := &q.segs[q.head]
		if n < len(s.b) {
			s.b = s.b[n:]
			break
		}
		n -= len(s.b)
		p.release(s.ck)
		*s = segment{}
		q.head++
	}
	if q.head == len(q.segs) {
		q.segs, q.head = q.segs[:0], 0
		if cap(q.segs) > 64 {
			q.segs = nil // a burst is no reason to keep the memory
		}
	}
}

// drop forgets everything that waits.
func (q *outQueue) drop(p *chunkPool) {
	for i := q.head; i < len(q.segs); i++ {
		p.release(q.segs[i].ck)
	}
	*q = outQueue{}
}
