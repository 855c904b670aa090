package engine

// Back-pressure: a receiver that takes nothing while more than StallBytes wait for it holds back the publishers that
// fill it, until it has drained to half of that or StallMax has passed. After a StallMax in vain it holds nobody back
// before it has drained; the publishers go on and max_pending decides. So a sick receiver costs each publisher at most
// StallMax for every StallBytes/2 bytes that it takes.

// stall holds publisher p back because of receiver r.
func (e *Engine) stall(p, r *conn) {
	if r.stallUsed || p == e.self || p.gate&gateClosed != 0 {
		return
	}
	n := len(r.stalled)
	if n > 0 && r.stalled[n-1] == p.id {
		return // one message for several subscriptions of r
	}
	// With p behind others in the list, p is noted twice, which does no harm: that takes a message whose delivery is
	// continued in another turn, for p sends nothing new meanwhile.
	if n == 0 {
		r.stallEnd = later(e.now, e.opts.StallMax)
		e.arm(r)
	}
	e.mark(MarkStallStart)
	e.totals.stalls++
	r.stalled = append(r.stalled, p.id)
	p.stalls++
	p.stallCount++
	p.gate |= gateStall
}

// drained lets the publishers go when r has taken enough.
func (e *Engine) drained(r *conn) {
	if r.out.pending > e.opts.StallBytes/2 {
		return
	}
	if len(r.stalled) > 0 {
		e.mark(MarkStallRelease)
	}
	r.stallUsed = false
	e.release(r)
}

// release lets go every publisher that r holds back.
func (e *Engine) release(r *conn) {
	for _, id := range r.stalled {
		p := e.lookup(id)
		if p == nil {
			continue
		}
		if p.stalls--; p.stalls == 0 {
			e.open(p, gateStall)
		}
	}
	r.stalled = nil // back-pressure is rare: an idle connection keeps no buffer for it
	r.stallEnd = 0
}

// stallTimeout gives up on r.
func (e *Engine) stallTimeout(r *conn) {
	e.mark(MarkStallTimeout)
	r.stallUsed = true
	e.release(r)
}
