//go:build linux

package main

import (
	"testing"
	"time"
)

// A loop that does nothing passes some time between two looks, and less than it was told to go on for.
func TestStillness(t *testing.T) {
	const long = 20 * time.Millisecond
	still, err := stillness(long)
	if err != nil {
		t.Fatal(err)
	}
	if clock := still[stillClockNs]; clock <= 0 {
		t.Errorf("no time between two looks in %v", still)
	}
	if cpu := still[stillCPUNs]; cpu <= 0 {
		t.Errorf("no CPU between two looks in %v", still)
	}
}
