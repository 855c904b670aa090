package conf

import (
	"fmt"
	"math"
	"time"
)

// Pos is a place in a file; lines and columns count from 1.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Error is something wrong at a place.
type Error struct {
	Pos  Pos
	What string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.What }

// Errorf makes an Error.
func Errorf(p Pos, format string, args ...any) error {
	return &Error{Pos: p, What: fmt.Sprintf(format, args...)}
}

// Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	String Kind = iota
	Integer
	Float
	Bool
	Array
	Block
)

// String is the kind's name in messages.
func (k Kind) String() string {
	return [...]string{"a string", "an integer", "a number", "true or false", "an array", "a block"}[k]
}

// Value is one value. Text is what was written, for every scalar kind: the bare word 1s is a string, and so is "4222".
type Value struct {
	Pos   Pos
	Kind  Kind
	Text  string
	Int   int64
	Bool  bool
	Array []Value
	Block *Map
}

// Entry is one key of a block.
type Entry struct {
	Pos   Pos
	Key   string
	Value Value
	Used  bool // a variable below named it
}

// Map is a block: its entries in the order of the file. A key may occur several times; the last one counts.
type Map struct {
	Entries []Entry
}

// AsString returns a scalar as written.
func (v *Value) AsString() (string, error) {
	if v.Kind == Array || v.Kind == Block {
		return "", v.wrong(String)
	}
	return v.Text, nil
}

// AsInt returns an integer, units applied.
func (v *Value) AsInt() (int64, error) {
	if v.Kind != Integer {
		return 0, v.wrong(Integer)
	}
	return v.Int, nil
}

// AsBool returns a boolean.
func (v *Value) AsBool() (bool, error) {
	if v.Kind != Bool {
		return false, v.wrong(Bool)
	}
	return v.Bool, nil
}

// AsDuration returns a duration: "1m30s", or a number of seconds.
func (v *Value) AsDuration() (time.Duration, error) {
	switch v.Kind {
	case Integer:
		if v.Int >= math.MinInt64/int64(time.Second) && v.Int <= math.MaxInt64/int64(time.Second) {
			return time.Duration(v.Int) * time.Second, nil
		}
	case Float, String:
		if d, err := time.ParseDuration(v.Text); err == nil {
			return d, nil
		}
		if d, err := time.ParseDuration(v.Text + "s"); err == nil {
			return d, nil
		}
	case Bool:
	case Array, Block:
		return 0, Errorf(v.Pos, "expected a duration such as 10s or 2m, found %v", v.Kind)
	}
	return 0, Errorf(v.Pos, "expected a duration such as 10s or 2m, found %q", v.Text)
}

// AsBlock returns a block.
func (v *Value) AsBlock() (*Map, error) {
	if v.Kind != Block {
		return nil, v.wrong(Block)
	}
	return v.Block, nil
}

func (v *Value) wrong(want Kind) error {
	if v.Kind == Array || v.Kind == Block {
		return Errorf(v.Pos, "expected %v, found %v", want, v.Kind)
	}
	return Errorf(v.Pos, "expected %v, found %q", want, v.Text)
}
