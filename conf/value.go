package conf

import "fmt"

// Pos is a place in a file; lines and columns count from 1, columns in characters.
type Pos struct {
	File      string
	Line, Col int
}

// String is file:line:column, or the name alone of what has no lines.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Kind is the type of a value.
type Kind uint8

// The kinds of values. Missing is the value of a variable that is defined nowhere: it was reported already.
const (
	Missing Kind = iota
	String
	Integer
	Float
	Bool
	Date
	Array
	Block
)

// String is the kind's name in messages.
func (k Kind) String() string {
	return [...]string{"nothing", "a string", "an integer", "a number", "true or false", "a date", "an array", "a block"}[k]
}

// Value is one value.
type Value struct {
	Pos  Pos // where it stands, or the variable that stands for it
	Def  Pos // where a variable's value was given; zero for a value that stands where it is used
	Kind Kind
	// Text is a string's content; for integers, numbers, dates, and true or false it is what was written.
	Text  string
	Int   int64 // Integer, units applied
	Bool  bool
	Array []Value
	Block *Map

	nodes int // values in it, itself included, as variables unfold
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
	Pos     Pos
	Entries []Entry
}

// Find returns the last entry with exactly this key, or nil.
func (m *Map) Find(key string) *Entry {
	for i := len(m.Entries) - 1; i >= 0; i-- {
		if m.Entries[i].Key == key {
			return &m.Entries[i]
		}
	}
	return nil
}

// Found describes a value for messages: its kind, and what was written where that is short.
func (v *Value) Found() string {
	switch v.Kind {
	case String:
		return fmt.Sprintf("the string %q", v.Text)
	case Integer, Float, Date:
		return fmt.Sprintf("%v, %s", v.Kind, v.Text)
	case Bool:
		return v.Text
	case Missing, Array, Block:
	}
	return v.Kind.String()
}
