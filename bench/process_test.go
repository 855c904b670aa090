//go:build linux

package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProcessCPUIsTheProcessClock(t *testing.T) {
	var before, after unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &before); err != nil {
		t.Fatal(err)
	}
	got, err := processCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &after); err != nil {
		t.Fatal(err)
	}
	if got.Nanoseconds() < before.Nano() || got.Nanoseconds() > after.Nano() {
		t.Errorf("%v is not between %v and %v", got.Nanoseconds(), before.Nano(), after.Nano())
	}
}

func TestStatusBytes(t *testing.T) {
	text := "Name:\tx\nVmHWM:\t  900 kB\nVmRSS:\t  512 kB\n"
	if got, err := statusBytes(text, "VmRSS"); err != nil || got != 512<<10 {
		t.Errorf("statusBytes = %d, %v", got, err)
	}
	for _, text := range []string{"", "VmRSS:\t x kB\n"} {
		if _, err := statusBytes(text, "VmRSS"); err == nil {
			t.Errorf("statusBytes(%q) has a result", text)
		}
	}
}
