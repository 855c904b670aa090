package mapping

import (
	"math"
	"strconv"
	"strings"
)

// kind is what a piece of a destination does.
type kind uint8

const (
	literal   kind = iota // text, dots within and at its ends included
	token                 // a captured token
	rest                  // what ">" captured
	partition             // a number from the hash of tokens
	random                // a random number
	split
	splitFromLeft
	splitFromRight
	sliceFromLeft
	sliceFromRight
	left
	right
)

// functions are the names, in the order in which nats-server looks for them,
// which matters in texts that contain two. A capital may be small as well.
var functions = [...]struct {
	name string
	kind kind
}{
	{"Wildcard", token},
	{"Partition", partition},
	{"SplitFromLeft", splitFromLeft},
	{"SplitFromRight", splitFromRight},
	{"SliceFromLeft", sliceFromLeft},
	{"SliceFromRight", sliceFromRight},
	{"Split", split},
	{"Left", left},
	{"Right", right},
	{"Random", random},
}

// call is a destination's token, understood: a function and its arguments.
type call struct {
	kind  kind
	index int    // of the wildcard; token and the functions that cut
	all   bool   // partition hashes the whole subject
	of    []int  // partition: the wildcards
	n     int64  // how many; fits 32 bits but for partition and random, which take it modulo 2^32
	by    string // split: the separator
}

// isFunction reports whether t has the form of a function. An empty one is
// literal text, and so is one with text around the braces.
func isFunction(t string) bool {
	return len(t) > 4 && strings.HasPrefix(t, "{{") && strings.HasSuffix(t, "}}")
}

// find returns the kind of the function in t and the text between its
// parentheses. Braces may stand around it, as in {{{left(1,2)}}}.
func find(t string) (k kind, args string, ok bool) {
	for _, f := range functions {
		for from := 0; ; from++ {
			next := strings.Index(t[from:], "{{")
			if next < 0 {
				break
			}
			from += next
			if args, ok := argsOf(t[from+2:], f.name); ok {
				return f.kind, args, true
			}
		}
	}
	return literal, "", false
}

// argsOf returns the text between the first and the last fitting parenthesis
// of s, which begins behind the braces.
func argsOf(s, name string) (string, bool) {
	s = strings.TrimLeft(s, space)
	if !hasName(s, name) {
		return "", false
	}
	s = strings.TrimLeft(s[len(name):], space)
	if s == "" || s[0] != '(' {
		return "", false
	}
	s = s[1:]
	for end := len(s) - 1; end >= 0; end-- {
		if s[end] == ')' && strings.HasPrefix(strings.TrimLeft(s[end+1:], space), "}}") {
			return s[:end], !strings.Contains(s[:end], "\n")
		}
	}
	return "", false
}

// space is what may stand around a function's parts.
const space = " \t\n\f\r"

// hasName reports whether s begins with name, whose capitals may be small.
func hasName(s, name string) bool {
	if len(s) < len(name) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if s[i] != c && !(c <= 'Z' && s[i] == c+'a'-'A') {
			return false
		}
	}
	return true
}

// parseToken understands a token of a destination. A token that is no function
// has kind literal.
func parseToken(t string) (call, error) {
	if isFunction(t) {
		k, text, ok := find(t)
		if !ok {
			return call{}, bad(ErrFunction, t)
		}
		c, err := parseCall(k, arguments(text))
		if err != nil {
			return call{}, bad(err, t)
		}
		return c, nil
	}
	if len(t) > 1 && t[0] == '$' {
		if n, err := strconv.Atoi(t[1:]); err == nil {
			return call{kind: token, index: n}, nil
		}
	}
	return call{}, nil
}

// arguments cuts text at commas and the white space behind them.
func arguments(text string) []string {
	list := strings.Split(text, ",")
	for i := 1; i < len(list); i++ {
		list[i] = strings.TrimLeft(list[i], space)
	}
	return list
}

// parseCall reads the arguments of a function.
func parseCall(k kind, args []string) (call, error) {
	switch k {
	case token:
		if len(args) > 1 {
			return call{}, ErrTooMany
		}
		if args[0] == "" {
			return call{}, ErrTooFew
		}
		n, ok := number(args[0])
		return call{kind: k, index: n}, valid(ok)
	case random:
		if len(args) > 1 {
			return call{}, ErrTooFew // the text that nats-server has for this
		}
		n, ok := number(args[0])
		return call{kind: k, n: int64(n)}, valid(ok && n <= math.MaxInt32)
	case partition:
		return parsePartition(args)
	}
	if len(args) < 2 {
		return call{}, ErrTooFew
	}
	if len(args) > 2 {
		return call{}, ErrTooMany
	}
	n, ok := number(args[0])
	if k == split {
		return call{kind: k, index: n, by: args[1]}, valid(ok && !strings.Contains(args[1], " "))
	}
	size, sizeOK := number(args[1])
	return call{kind: k, index: n, n: int64(size)}, valid(ok && sizeOK && size <= math.MaxInt32)
}

// parsePartition reads the arguments of a partition: how many, and of what.
func parsePartition(args []string) (call, error) {
	n, ok := number(args[0])
	if !ok || n > math.MaxInt32 {
		return call{}, ErrArgument
	}
	c := call{kind: partition, n: int64(n), all: len(args) == 1}
	for _, a := range args[1:] {
		i, ok := number(a)
		if !ok {
			return call{}, ErrArgument
		}
		c.of = append(c.of, i)
	}
	return c, nil
}

// number reads a decimal number with spaces around it.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(strings.Trim(s, " "))
	return n, err == nil
}

// valid returns nil if ok, else ErrArgument.
func valid(ok bool) error {
	if ok {
		return nil
	}
	return ErrArgument
}
