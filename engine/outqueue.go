package engine

// segment is a run of bytes to be written, within a chunk that it holds a reference to.
type segment struct {
	b  []byte
	ck *chunk
}

// outQueue is what waits to be written to one connection, in order: first segs[head:], then open. Empty, it holds no
// buffer. The segment being filled lies in the struct itself: appending to it touches nothing else.
type outQueue struct {
	open    []byte // within ck; its capacity is what may still be filled
	pending int    // bytes that wait
	ck      *chunk // holds open; nil: there is no open segment
	head    int32  // segs before it have been written
	lineEnd int32  // where open ends in ck, if it consists of lines shared with others; else 0
	segs    []segment
}

// pieces returns how many pieces of memory hold what waits.
func (q *outQueue) pieces() int {
	n := len(q.segs) - int(q.head)
	if len(q.open) > 0 {
		n++
	}
	return n
}

// extend returns n contiguous bytes at the end of the queue for the caller to fill.
func (q *outQueue) extend(p *chunkPool, n int) []byte {
	used := len(q.open)
	if cap(q.open)-used < n {
		return q.grow(p, n)
	}
	q.pending += n
	q.open = q.open[:used+n]
	return q.open[used : used+n : used+n]
}

func (q *outQueue) grow(p *chunkPool, n int) []byte {
	size := n
	if q.pending > 0 && size < bigChunk {
		size = bigChunk // not the first chunk: more will follow
	}
	q.seal(p)
	q.pending += n
	q.ck = p.get(size)
	q.open = q.ck.data[:n]
	return q.open[:n:n]
}

// seal ends the open segment.
func (q *outQueue) seal(p *chunkPool) {
	switch {
	case q.ck == nil:
	case len(q.open) > 0:
		q.push(segment{b: q.open, ck: q.ck})
	default:
		p.release(q.ck)
	}
	q.open, q.ck, q.lineEnd = nil, nil, 0
}

// follow appends the n bytes of ck from at on without copying, if they follow upon what the queue ends with, or a segment
// of their own is worth it: it is for the first bytes, and where many such came before.
func (q *outQueue) follow(p *chunkPool, ck *chunk, at, n int) bool {
	switch {
	case q.ck == ck && int(q.lineEnd) == at:
		q.open = ck.data[at-len(q.open) : at+n : at+n]
	case q.pending == 0 || q.lineEnd > 0 && len(q.open) >= lineSegment:
		q.seal(p)
		ck.refs++
		q.ck, q.open = ck, ck.data[at:at+n:at+n]
	default:
		return false
	}
	q.lineEnd = int32(at + n)
	q.pending += n
	return true
}

// lineSegment is how many bytes of shared lines make a segment that costs less than copying them.
const lineSegment = 2 << 10

// openRest is how much room an open segment must have left to go on behind a shared payload.
const openRest = 256

// share appends b, a part of ck, without copying.
func (q *outQueue) share(p *chunkPool, ck *chunk, b []byte) {
	if rest := q.open[len(q.open):]; cap(rest) < openRest {
		q.seal(p)
	} else if len(q.open) > 0 {
		q.ck.refs++
		q.push(segment{b: q.open[:len(q.open):len(q.open)], ck: q.ck})
		q.open = rest
	}
	q.pending += len(b)
	ck.refs++
	q.push(segment{b: b, ck: ck})
}

func (q *outQueue) push(s segment) {
	if int(q.head) > len(q.segs)/2 && len(q.segs) == cap(q.segs) { // so that each is moved once or so
		n := copy(q.segs, q.segs[q.head:])
		clear(q.segs[n:])
		q.segs, q.head = q.segs[:n], 0
	}
	q.segs = append(q.segs, s)
}

// vectors appends the first of the waiting bytes to iov: in at most limit slices, and at most so many bytes.
func (q *outQueue) vectors(iov [][]byte, limit, most int) [][]byte {
	for i := int(q.head); i < len(q.segs) && len(iov) < limit && most > 0; i++ {
		b := q.segs[i].b
		b = b[:min(len(b), most)]
		iov = append(iov, b)
		most -= len(b)
	}
	if len(q.open) > 0 && len(iov) < limit && most > 0 {
		iov = append(iov, q.open[:min(len(q.open), most)])
	}
	return iov
}

// written removes the first n bytes.
func (q *outQueue) written(p *chunkPool, n int) {
	q.pending -= n
	for int(q.head) < len(q.segs) {
		s := &q.segs[q.head]
		if n < len(s.b) {
			s.b = s.b[n:]
			return
		}
		n -= len(s.b)
		p.release(s.ck)
		*s = segment{}
		q.head++
	}
	q.segs, q.head = q.segs[:0], 0
	if cap(q.segs) > 64 {
		q.segs = nil // a burst is no reason to keep the memory
	}
	if q.open = q.open[n:]; len(q.open) == 0 {
		q.seal(p)
	}
}

// trim gives up what an empty queue keeps for later.
func (q *outQueue) trim() {
	if len(q.segs) == 0 {
		q.segs = nil
	}
}

// drop forgets everything that waits.
func (q *outQueue) drop(p *chunkPool) {
	for i := int(q.head); i < len(q.segs); i++ {
		p.release(q.segs[i].ck)
	}
	q.open = q.open[:0]
	q.seal(p)
	*q = outQueue{}
}
