package clock

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	time.Sleep(time.Second) // want `use of .time.Sleep. forbidden because "D2`
	t.Log(time.Now())       // want `use of .time.Now. forbidden because "D2`
}

func ExampleClock() {
	time.Sleep(1) // want `use of .time.Sleep. forbidden because "D2`
	// Output:
}
