package dropped

import (
	"testing"
	"time"
)

func TestSkipped(t *testing.T) {
	t.Skip() // want `style: Skip without a reason to print`
}

func TestSkippedNow(t *testing.T) {
	t.SkipNow() // want `style: SkipNow prints no reason`
}

func TestAsleep(t *testing.T) {
	time.Sleep(time.Millisecond) // want `style: a test that sleeps`
	pause := time.Sleep          // want `style: a test that sleeps`
	pause(1)
}

func TestFine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
}
