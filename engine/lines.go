package engine

// lines is where messages lie as many receivers get them, control line and body, one behind the other. Receivers with the
// same sid that miss none of them have a single piece of it to be written, and nothing is copied for each.
type lines struct {
	ck   *chunk // nil: none has been needed
	used int
}

// place returns room for n bytes: a chunk and where in it. It is nil for what is too large to gather.
func (l *lines) place(p *chunkPool, n int) (ck *chunk, at int) {
	if n > linesMost {
		return nil, 0
	}
	switch {
	case l.ck == nil:
		l.ck, l.used = p.get(linesChunk), 0
	case l.ck.refs == 1:
		l.used = 0 // all have been written
	case len(l.ck.data)-l.used < n:
		p.release(l.ck)
		l.ck, l.used = p.get(linesChunk), 0
	}
	return l.ck, l.used
}

// trim gives back what nobody waits for.
func (l *lines) trim(p *chunkPool) {
	if l.ck != nil && l.ck.refs == 1 {
		p.release(l.ck)
		l.ck = nil
	}
}

const (
	linesChunk = bigChunk
	linesMost  = linesChunk / 8
)
