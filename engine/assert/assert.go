package assert

import "fmt"

// Failure is the value of the panic of a failed assertion.
type Failure string

func (f Failure) Error() string { return string(f) }

// That panics with a Failure unless ok. what says which rule was broken.
func That(ok bool, what string) {
	if !ok {
		panic(Failure("assertion failed: " + what))
	}
}

// Thatf is That with the state that matters. Its arguments are evaluated always: keep it off hot paths.
func Thatf(ok bool, format string, args ...any) {
	if !ok {
		panic(Failure("assertion failed: " + fmt.Sprintf(format, args...)))
	}
}
