package host

import (
	"crypto/sha256"
	"regexp"
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
