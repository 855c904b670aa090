package host

import (
	"testing"

	"github.com/natsd/natsd/engine"
)

// It can be asked for at any time, and comes to an end with the server.
func TestMemoryOfAServerThatEnds(t *testing.T) {
	for _, portable := range []bool{false, true} {
		s, err := New(Options{Log: nothing{}, Portable: portable, Engine: engine.Options{Host: "127.0.0.1", Port: -1}})
		if err != nil {
			t.Fatal(err)
		}
		ended, returned := make(chan error, 1), make(chan struct{})
		go func() { ended <- s.Run() }()
		go func() { s.ReturnMemory(); close(returned) }()
		s.giveUpSpare()
		s.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.giveUpSpare()
		<-returned
	}
}

func TestWhenMemoryIsGivenBack(t *testing.T) {
	var i idleness
	const mb = 1 << 20
	for n, look := range []struct {
		rss     int64
		percent float64
		due     bool
	}{
		{10 * mb, 0, false}, {10 * mb, 0, false}, {10 * mb, 0, false}, {10 * mb, 0, false}, // small
		{100 * mb, 50, false}, {100 * mb, 1, false}, {100 * mb, 0.9, false}, {100 * mb, 0, false},
		{100 * mb, 0, true},                      // 40 MB stay, see below
		{40 * mb, 0, false}, {60 * mb, 0, false}, // in use
		{65 * mb, 0, true},                       // it has grown, though slowly
		{64 * mb, 0, false}, {30 * mb, 0, false}, // given back by itself
		{54 * mb, 20, false}, {54 * mb, 0, false}, // at work
		{54 * mb, 0, false}, {54 * mb, 0, true}, // and idle again
		{54 * mb, 0, false}, {1000 * mb, 9, false}, //
		{1000 * mb, 0, false}, {1000 * mb, 2, false}, // never quiet for long
		{1000 * mb, 0, false}, {1000 * mb, 0, false}, {1000 * mb, 2, false},
	} {
		due := i.due(look.rss, look.percent)
		if due != look.due {
			t.Errorf("look %d: %v", n, due)
		}
		if due {
			i.kept = look.rss * 2 / 5
			if look.rss < 100*mb {
				i.kept = look.rss
			}
		}
	}
}
