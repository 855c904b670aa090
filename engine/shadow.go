package engine

import "github.com/natsd/natsd/subject"

// A subscription gets what other accounts export, and its own account imports, by shadows: subscriptions in those accounts
// that deliver to it under the subject that the message has here. So a queue group spans the accounts in which it has
// members, whoever publishes finds out that nobody listens, and what nobody subscribes to costs nothing.

// castShadows adds to a new subscription the shadows that the imports of its account call for.
func (e *Engine) castShadows(s *subscription) {
	s.cast = e.recast.number
	e.castFrom(s, s.conn.acc, s.handle.Subject(), nil, nil, 0)
}

// castFrom adds the shadows of root that continue what it, or its shadow behind, subscribes to in a: subj. Those that are
// known are there.
func (e *Engine) castFrom(root *subscription, a *account, subj string, behind *subscription, known []*subscription, hops int) {
	if hops == hopsMax {
		e.mark(MarkHopsMax)
		return
	}
	if hops == 0 {
		e.casting.begin()
	}
	for _, im := range a.def.streams {
		e.work++
		there, ok := im.wanted(subj)
		if !ok || behind != nil && behind.also.stream == im { // the account imports it from itself
			continue
		}
		if hops > 0 && e.casting.tooMany(im) && e.trust != nil {
			e.tellMultiplied(root)
			return
		}
		if s := e.amongShadows(known, im, behind); s != nil {
			e.castFrom(root, im.from, there, s, known, hops+1)
			continue
		}
		s := &subscription{
			conn: root.conn, sidLen: root.sidLen, sidShort: root.sidShort, sidLong: root.sidLong,
			flags: subShadow, also: &also{root: root, stream: im, behind: behind},
		}
		if e.insert(im.from, []byte(there), []byte(root.handle.Queue()), s) != nil {
			continue // what was checked is a pattern: it does not happen
		}
		if root.also == nil {
			root.also = &also{}
		}
		e.mark(MarkShadowCast)
		root.flags |= subShadowed
		root.also.shadows = append(root.also.shadows, s)
		e.castFrom(root, im.from, there, s, nil, hops+1)
	}
}

// amongShadows finds the one by an import that continues behind; nil: there is none.
func (e *Engine) amongShadows(list []*subscription, im *streamImport, behind *subscription) *subscription {
	e.work += len(list) / lookWork
	for _, s := range list {
		if s.also.stream == im && s.also.behind == behind {
			return s
		}
	}
	return nil
}

// wanted is what of the import a subscription to subj here asks for, there.
func (im *streamImport) wanted(subj string) (there string, ok bool) {
	both, ok := subject.Intersect(subj, im.local)
	if !ok || im.back == nil {
		return both, ok
	}
	b, ok := im.back.Apply(nil, []byte(both), 0)
	return string(b), ok
}

// takeShadows removes the shadows of a subscription.
func (e *Engine) takeShadows(s *subscription) {
	for _, sh := range s.also.shadows {
		sh.flags |= subDead
		e.remove(sh.also.stream.from, sh)
	}
	s.also.shadows = nil
	s.flags &^= subShadowed
}

// unshadow returns the subscription whose shadow s is, nil if the message is not for it, and gives e.out the subject that it
// has there.
func (e *Engine) unshadow(s *subscription) *subscription {
	m, root, by := &e.out, s.also.root, s.also.stream
	if root.dead() {
		return nil
	}
	if m.continues(s) {
		return root
	}
	if s.cut() {
		return nil
	}
	if by.bridge == nil && s.also.behind == nil { // it has the same subject here and there
		if m.otherHead {
			m.setHead(m.subject)
		}
		m.otherHead, m.headFor = false, by
		return root
	}
	subj := m.subject
	for x := s; x != nil; x = x.also.behind {
		if subj = x.also.stream.toLocal(subj); subj == nil {
			return nil
		}
	}
	m.setHead(subj)
	if m.otherHead, m.headFor = true, by; s.also.behind != nil {
		m.headFor = nil // another one needs a head of its own
	}
	return root
}

// toLocal is what a subject of the exporting account is here, nil if it is not imported. It is valid until the next call. The
// last answer is remembered.
func (im *streamImport) toLocal(subj []byte) []byte {
	if im.bridge == nil {
		return subj
	}
	if len(im.last) > 0 && string(im.last) == string(subj) {
		return im.lastLocal
	}
	im.last = append(im.last[:0], subj...)
	var ok bool
	if im.lastLocal, ok = im.bridge.Apply(im.lastLocal[:0], subj, 0); !ok {
		im.last = im.last[:0]
		return nil
	}
	return im.lastLocal
}
