package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/natsd/natsd/engine"
)

// A panic on the loop ends the process, but not before it is in the log, with what the engine held.
func TestPanicIsLogged(t *testing.T) {
	for _, portable := range []bool{false, true} {
		var out bytes.Buffer
		log, err := newLogger(LogOptions{}, &out)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1}, Portable: portable, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		s.post(func(*engine.Engine) { panic("a planted one") })
		func() {
			defer func() {
				if v := recover(); v != "a planted one" {
					t.Errorf("recovered %v", v)
				}
			}()
			t.Error("Run returned: ", s.Run())
		}()
		if got := out.String(); !strings.Contains(got, "[FTL] natsd stops because its own state is broken: a planted one. It held {Connections:0") {
			t.Errorf("logged %q", got)
		}
	}
}
