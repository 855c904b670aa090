package host

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/natsd/natsd/engine"
)

func TestInboxWakesOnce(t *testing.T) {
	var b inbox
	woken := 0
	wake := func() { woken++ }
	nothing := func(*engine.Engine) {}
	for range 3 {
		if !b.put(nothing, wake) {
			t.Fatal("refused")
		}
	}
	if woken != 1 {
		t.Errorf("woken %d times for three things before the first take", woken)
	}
	if n := len(b.take()); n != 3 {
		t.Errorf("took %d", n)
	}
	if n := len(b.take()); n != 0 {
		t.Errorf("took %d from an empty inbox", n)
	}
	b.put(nothing, wake)
	if woken != 2 {
		t.Errorf("woken %d times after the take", woken)
	}
	b.close()
	if b.put(nothing, wake) || woken != 2 {
		t.Error("a closed inbox took something, or woke somebody")
	}
	if n := len(b.take()); n != 0 {
		t.Errorf("took %d from a closed inbox", n)
	}
}

// What is put is taken once, in the order of each who puts, and the loop is never asleep while something is there.
func TestInboxLosesNothing(t *testing.T) {
	var b inbox
	bell := make(chan struct{}, 1)
	wake := func() {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
	const writers, each = 8, 2000
	next := [writers]int{}
	taken := 0
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				b.put(func(*engine.Engine) {
					if next[w] != i {
						t.Errorf("writer %d: %d comes after %d", w, i, next[w]-1)
					}
					next[w]++
					taken++
				}, wake)
			}
		})
	}
	for taken < writers*each {
		<-bell
		for _, f := range b.take() {
			f(nil)
		}
	}
	wg.Wait()
}

// Once close has returned nobody is woken: what wake uses may be gone.
func TestInboxClosedWhileUsed(t *testing.T) {
	for range 200 {
		var b inbox
		var gone atomic.Bool
		wake := func() {
			if gone.Load() {
				t.Error("woken after close")
			}
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for b.put(func(*engine.Engine) {}, wake) {
				}
			})
		}
		for range 10 {
			b.take()
		}
		b.close()
		gone.Store(true)
		wg.Wait()
	}
}

// The loop goes on while somebody who wakes it is held up in that very moment.
func TestInboxDoesNotWaitForWakers(t *testing.T) {
	var b inbox
	woken, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		b.put(func(*engine.Engine) {}, func() {
			close(woken)
			<-goOn
		})
	})
	<-woken
	if n := len(b.take()); n != 1 {
		t.Errorf("took %d", n)
	}
	close(goOn)
	wg.Wait()
}
