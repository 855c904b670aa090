package netsim

// What can happen to a machine as a whole.

// Kill ends the process on the host: its listeners and connections are closed by its kernel, its sink hears nothing
// more of them. The host can listen and dial again at once.
func (h *Host) Kill() {
	h.net.counters.Kills++
	h.lives++
	h.stopAll()
	for e := h.ends; e != nil; e = e.next {
		if e.listed && e.owned() {
			e.Close()
		}
	}
}

// PowerOff silences the host and forgets all it had, without a word to anyone.
func (h *Host) PowerOff() {
	if h.off {
		return
	}
	h.net.counters.PowerOffs++
	h.fallSilent()
	h.suspended = false
	h.off = true
	h.lives++
	h.stopAll()
	for e := h.ends; e != nil; e = e.next {
		if !e.listed {
			continue
		}
		e.drop()
		if e.out().path != nil {
			e.out().ground()
		}
		e.peer().watch()
		e.link.settle()
	}
	h.boot()
}

// PowerOn brings a host back that PowerOff silenced. Peers that still believe in a connection are reset when they next
// send something.
func (h *Host) PowerOn() {
	if h.off {
		h.off = false
		h.speak()
	}
}

// Suspend stops the whole machine, its kernel too, until Resume. (A stopped process alone is an owner that does not
// read: nothing to call here.)
func (h *Host) Suspend() {
	if h.silent() {
		return
	}
	h.net.counters.Suspensions++
	h.fallSilent()
	h.suspended = true
	for e := h.ends; e != nil; e = e.next {
		e.peer().watch()
	}
}

// Resume undoes Suspend.
func (h *Host) Resume() {
	if h.suspended {
		h.suspended = false
		h.speak()
	}
}

// fallSilent notes the moment, and what was known at it.
func (h *Host) fallSilent() {
	if h.silent() {
		return
	}
	h.silentAt = h.net.queue.Now()
	for e := h.ends; e != nil; e = e.next {
		e.reckon()
	}
}

// speak moves on what the host's silence held up.
func (h *Host) speak() {
	for e := h.ends; e != nil; e = e.next {
		e.watch()
	}
	for _, p := range h.net.inUse {
		if p.from == h || p.to == h {
			p.wake()
		}
	}
}
