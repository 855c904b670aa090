package maporder

import "testing"

func TestOrder(t *testing.T) {
	for name := range map[string]int{"one": 1, "two": 2} { // want `D4: range over a map`
		t.Log(name)
	}
}
