//go:build linux

package main

import (
	"errors"
	"testing"
)

// groupOf returns a group whose receivers have counted the given bytes of
// messages of 100 bytes.
func groupOf(copies int, sent int64, counted ...int64) *group {
	g := &group{copies: copies, sent: sent, window: 10}
	for _, n := range counted {
		g.receivers = append(g.receivers, &receiver{messageBytes: 100, bytes: n})
	}
	return g
}

func TestRoomKeepsTheSlowestReceiverWithinTheWindow(t *testing.T) {
	p := &publisher{messages: 4}
	for received, want := range map[int64]bool{4: true, 3: false} {
		if got := groupOf(0, 10, 1000, received*100).room(p); got != want {
			t.Errorf("slowest at %d of 10: room %t", received, got)
		}
	}
}

func TestRoomCountsAllCopiesOfSharedMessages(t *testing.T) {
	p := &publisher{messages: 1}
	for received, want := range map[int64]bool{12: true, 11: false} {
		if got := groupOf(2, 10, received*100, 0).room(p); got != want {
			t.Errorf("%d of 22 copies received: room %t", received, got)
		}
	}
}

func TestRoomWithoutReceiversCountsAcknowledgedMessages(t *testing.T) {
	g := groupOf(0, 0)
	if p := (&publisher{messages: 4, sent: 10, acked: 4}); !g.room(p) {
		t.Error("no room for the window's last block")
	}
	if p := (&publisher{messages: 4, sent: 10, acked: 3}); g.room(p) {
		t.Error("room beyond the window")
	}
}

func TestTotalsMustComeOutExactly(t *testing.T) {
	const pong = 6
	cases := []struct {
		name string
		g    *group
		ok   bool
	}{
		{"all received", groupOf(0, 3, 300+pong, 300+pong), true},
		{"a PING in between", groupOf(0, 3, 300+2*pong, 300+pong), true},
		{"one message short", groupOf(0, 3, 300+pong, 200+pong), false},
		{"one message too many", groupOf(0, 3, 400+pong, 300+pong), false},
		{"a byte short", groupOf(0, 3, 299+pong), false},
		{"a byte too many", groupOf(0, 3, 301+pong), false},
		{"no PONG", groupOf(0, 3, 300), false},
		{"too many PINGs", groupOf(0, 3, 300+(controlsMax+2)*pong), false},
		{"shared", groupOf(1, 5, 300+pong, 200+pong), true},
		{"shared, one lost", groupOf(1, 5, 200+pong, 200+pong), false},
		{"two copies", groupOf(2, 3, 300+pong, 300+pong), true},
		{"two copies, one twice", groupOf(2, 3, 400+pong, 300+pong), false},
	}
	for _, c := range cases {
		if err := c.g.checkTotals(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestExcessNamesBrokenFraming(t *testing.T) {
	r := &receiver{messageBytes: 100, bytes: 250}
	if _, err := r.excess(); !errors.Is(err, errFrame) {
		t.Errorf("half a message: %v", err)
	}
}
