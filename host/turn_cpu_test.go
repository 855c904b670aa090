package host

import (
	"runtime"
	"testing"
	"time"
)

func TestTurnCPUIsBoundedByBothClocks(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, known := threadCPU()
	if !known {
		t.Skip("this system does not tell the CPU of a thread")
	}
	c := turnCPU{locked: true, read: start}
	if took := shortTurn; c.most(took) != took || c.read != start {
		t.Errorf("a short turn: %v, read at %v", c.most(took), c.read)
	}
	for x := uint64(1); ; x = x*2862933555777941757 + 3037000493 { // uses some CPU
		if now, _ := threadCPU(); now > start+time.Millisecond && x != 0 {
			break
		}
	}
	// The thread has used more than a millisecond, however long it took.
	if got := c.most(time.Hour); got < time.Millisecond || got == time.Hour {
		t.Errorf("a turn of an hour by the clock: %v", got)
	}
	for x := uint64(1); ; x = x*2862933555777941757 + 3037000493 {
		if now, _ := threadCPU(); now > c.read+2*time.Millisecond && x != 0 {
			break
		}
	}
	if got := c.most(time.Millisecond); got != time.Millisecond {
		t.Errorf("a turn of a millisecond, after short ones: %v", got)
	}
	c.locked = false
	if got := c.most(time.Hour); got != time.Hour {
		t.Errorf("a loop without a thread of its own: %v", got)
	}
}
