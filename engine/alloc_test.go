package engine

import (
	"fmt"
	"testing"
)

// The way of a message allocates nothing: neither to be parsed, nor to be routed, nor to be written, however many
// receivers it has, whether its payload is copied or shared, with headers or without.
func TestMessagesDontAllocate(t *testing.T) {
	for _, header := range []bool{false, true} {
		for _, size := range []int{0, 16, 1000, shareMin - 2, 20_000} {
			for _, subs := range []int{0, 1, 10, 100} {
				l := loadOf(subs, size, header)
				for range 3 {
					l.run()
				}
				// A turn may allocate where a message is continued in the next one; a message or a delivery may not.
				if n := testing.AllocsPerRun(20, l.run); n > 15*float64(l.receives*(1+size/bytesPerWork)/16384) {
					t.Errorf("%d bytes to %d receivers, headers %v: %v allocations for %d messages", size, subs, header, n, l.messages)
				}
			}
		}
	}
}

// Neither do PINGs, +OKs and messages for queue groups, nor messages that arrive in two pieces more than what holds them.
func TestOtherLinesDontAllocate(t *testing.T) {
	for _, c := range []struct {
		name, join, line string
		most             float64 // for each line
	}{
		{"PING", "", "PING\r\n", 0},
		{"UNSUB of nothing", "", "UNSUB 7\r\n", 0},
		{"queue group", "SUB foo q 1\r\nSUB foo q 2\r\nSUB foo r 3\r\n", "PUB foo 2\r\nhi\r\n", 0},
		{"request without responders", "SUB inbox.1 1\r\n", "PUB nobody inbox.1 0\r\n\r\n", 0},
		{"sid of many bytes", "SUB foo a-sid-that-does-not-fit-into-the-subscription\r\n", "PUB foo 2\r\nhi\r\n", 0},
		{"alternating subjects", "SUB a 1\r\nSUB b 2\r\n", "PUB a 1\r\nx\r\nPUB b 1\r\ny\r\n", 0},
	} {
		l := loadOf(0, 0, false)
		id := l.join(c.join)
		input := []byte(c.line)
		run := func() {
			turn(l.e, func() {
				for range 100 {
					l.e.Received(id, input)
				}
			})
		}
		run()
		if n := testing.AllocsPerRun(20, run); n > 100*c.most {
			t.Errorf("%s: %v allocations for 100 lines", c.name, n)
		}
	}
}

// A message that is cut allocates what gathers it, no more for more pieces.
func TestGatheringAllocatesOnce(t *testing.T) {
	for _, pieces := range []int{2, 10, 100} {
		l := loadOf(1, 5000, false)
		message := append(fmt.Appendf(nil, "PUB foo 5000\r\n"), make([]byte, 5000)...)
		message = append(message, "\r\n"...)
		run := func() {
			for i := range pieces {
				turn(l.e, func() { l.e.Received(l.pub, message[i*len(message)/pieces:(i+1)*len(message)/pieces]) })
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n > 10 {
			t.Errorf("%d pieces: %v allocations", pieces, n)
		}
	}
}
