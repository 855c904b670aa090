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
		rss     int64 // MB
		percent float64
		kept    int64 // MB that stay when memory is given back; 0: it is not
	}{
		{10, 0, 0}, {10, 0, 0}, {10, 0, 0}, {10, 0, 0}, // small
		{100, 50, 0}, {100, 1, 0}, {100, 0.9, 0}, {100, 0, 0}, {100, 0, 40},
		{40, 0, 0}, {60, 0, 0}, {63, 0, 0}, // in use
		{65, 0, 60},            // it has grown, though slowly
		{59, 0, 0}, {30, 0, 0}, // given back by itself
		{54, 20, 0}, {54, 0, 0}, {54, 0, 0}, {54, 0, 1}, // at work, and idle again
		{99, 0, 0}, {99, 0, 0}, {99, 0, 99}, // back at once: not at every look
		{1000, 9, 0}, {1000, 0, 0}, {1000, 2, 0}, {1000, 0, 0}, {1000, 0, 0}, {1000, 2, 0}, // never idle for long
	} {
		due := i.due(look.rss*mb, look.percent)
		if due != (look.kept != 0) {
			t.Errorf("look %d: %v", n, due)
		}
		if due {
			i.kept = look.kept * mb
		}
	}
}
