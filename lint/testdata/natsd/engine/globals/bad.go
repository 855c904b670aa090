package globals

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

var counter int // want `D9: package-level variable counter is written \(assigned, line \d+\)`

var ErrFull = errors.New("full")

var errWrapped = fmt.Errorf("wrapped: %w", ErrFull)

var Full = errors.New("full") // want `D9: package-level error Full is no sentinel`

var ErrMade = build() // want `D9: package-level error ErrMade is no sentinel`

func build() error { return nil }

type row struct {
	name string
	size int
}

// Tables nothing writes.
var (
	digits         = "0123456789"
	readOnly       = [...]row{{"a", 1}, {"b", 2}}
	crlf           = []byte("\r\n")
	table          = crc32.MakeTable(crc32.Castagnoli)
	_        error = nil
	empty    [64]byte
)

var (
	element  = []int{1, 2, 3}     // want `D9: package-level variable element is written \(assigned`
	field    = [...]row{{"a", 1}} // want `D9: package-level variable field is written \(assigned`
	aliased  = [...]row{{"a", 1}} // want `D9: package-level variable aliased is written \(address taken`
	given    = row{"a", 1}        // want `D9: package-level variable given is written \(address taken`
	sorted   = []int{3, 1}        // want `D9: package-level variable sorted is written \(handed to slices.Sort`
	appended = []int{3, 1}        // want `D9: package-level variable appended is written \(handed to append`
	removed  = map[string]int{}   // want `D9: package-level variable removed is written \(handed to delete`
	method   row                  // want `D9: package-level variable method is written \(method grow takes its address`
	ranged   int                  // want `D9: package-level variable ranged is written \(assigned`
	pointer  = &row{"a", 1}       // want `D9: package-level variable pointer (holds|is made of) a pointer`
	pointers = map[string]*row{}  // want `D9: package-level variable pointers (holds|is made of) a pointer`
)

var (
	scratch  = make([]byte, 64)    // want `D9: package-level variable scratch is written \(shared with another variable`
	returned = []int{1}            // want `D9: package-level variable returned is written \(returned`
	kept     = map[string]int{}    // want `D9: package-level variable kept is written \(shared with a value`
	next     = counting()          // want `D9: package-level variable next is made of a function with state of its own`
	hidden   = []any{&row{"a", 1}} // want `D9: package-level variable hidden is made of a pointer`
	handlers = map[string]func(*row){"grow": (*row).grow, "shrink": func(r *row) { r.size-- }}
)

func counting() func() int {
	n := 0
	return func() int { n++; return n }
}

type index struct{ of map[string]int }

func share() ([]int, index) {
	buf := scratch[:0]
	buf = append(buf, 'x')
	names := crlf // only read
	if len(names) == len(empty) || names[0] == 'x' {
		handlers["grow"](new(row))
	}
	_, _ = next(), hidden
	return returned, index{of: kept}
}

func (r *row) grow() { r.size++ }

func use() (n int, out []byte) {
	counter++
	element[1] = 2
	field[0].size = 3
	a := &aliased[0]
	a.size = 1
	fill(&given)
	slices.Sort(sorted)
	_ = append(appended, 1)
	delete(removed, "a")
	method.grow()
	for ranged = range 3 {
	}
	for i := range readOnly {
		r := &readOnly[i] // only read through
		n += r.size + len(r.name)
	}
	n += int(crc32.Checksum(crlf, table)) + len(digits) + pointer.size + len(pointers)
	return n, append(out, crlf...)
}

func fill(r *row) { r.size = 1 }
