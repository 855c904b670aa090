//go:build linux

package main

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stillness measures what the machine itself adds to turns: for so long, on every core, a loop that does nothing but look at two
// clocks. The most that passed between two looks, by the clock and as CPU of its thread, is what a turn may seem to take that does
// nothing at all: a hypervisor that gives a core to others tells the kernel late or never, which then counts it as used.
func stillness(d time.Duration) (sample, error) {
	looks := make([]look, runtime.NumCPU())
	var threads sync.WaitGroup
	for i := range looks {
		threads.Go(func() { looks[i].on(d) })
	}
	threads.Wait()
	most := sample{stillClockNs: 0, stillCPUNs: 0}
	for _, l := range looks {
		if l.err != nil {
			return nil, l.err
		}
		most[stillClockNs], most[stillCPUNs] = max(most[stillClockNs], float64(l.clock)), max(most[stillCPUNs], float64(l.cpu))
	}
	return most, nil
}

// look is what one thread saw.
type look struct {
	clock, cpu time.Duration // the most between two looks
	err        error
}

// on looks for so long.
func (l *look) on(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	var clockBefore, cpuBefore time.Duration
	for first := true; clockBefore < d; first = false {
		var t unix.Timespec
		if l.err = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); l.err != nil {
			return
		}
		clock, cpu := time.Since(began), time.Duration(t.Nano())
		if !first {
			l.clock, l.cpu = max(l.clock, clock-clockBefore), max(l.cpu, cpu-cpuBefore)
		}
		clockBefore, cpuBefore = clock, cpu
	}
}
