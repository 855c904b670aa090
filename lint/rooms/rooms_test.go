package rooms

import "testing"

func TestOfFindsTheDeepestRoom(t *testing.T) {
	cases := []struct {
		path string
		dir  string
		kind Kind
	}{
		{Module + "/engine", "engine", Pure},
		{Module + "/engine/assert", "engine", Pure},
		{Module + "/enginex", "enginex", Unknown},
		{Module + "/sim/schedule", "sim", Pure},
		{Module + "/sim/mutants", "sim/mutants", World},
		{Module + "/internal/transcript", "internal/transcript", Pure},
		{Module + "/internal/transcript/replay", "internal/transcript/replay", World},
		{Module + "/host", "host", World},
		{Module + "/cmd/natsd", "cmd", World},
		{"fmt", "", Foreign},
		{"github.com/natsd/natsdx", "", Foreign},
	}
	for _, c := range cases {
		if got := Of(c.path); got.Dir != c.dir || got.Kind != c.kind {
			t.Errorf("Of(%q) = %q, %d, want %q, %d", c.path, got.Dir, got.Kind, c.dir, c.kind)
		}
	}
}
