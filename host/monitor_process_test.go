package host

import (
	"crypto/sha256"
	"math"
	"regexp"
	"runtime/debug"
	"testing"
	"time"
)

// Tools print what the process uses as it is given: with one decimal at most.
func TestUsageIsRounded(t *testing.T) {
	p := &process{}
	var sum [sha256.Size]byte
	for range 5 {
		p.measured = time.Time{}
		if cpu := string(p.Process().CPU); !regexp.MustCompile(`^\d+(\.\d)?$`).MatchString(cpu) {
			t.Errorf("CPU: %s", cpu)
		}
		for range 3000 {
			sum = sha256.Sum256(sum[:])
		}
	}
}

// A bound of memory that somebody has set is shown; that there is none is not.
func TestMemoryLimitIsShown(t *testing.T) {
	p := &process{}
	before := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(before)
	if got := p.Process().MemLimit; got != 1<<40 {
		t.Error(got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := p.Process().MemLimit; got != 0 {
		t.Error(got)
	}
}
