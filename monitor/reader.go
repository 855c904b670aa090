package monitor

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// reader reads the query of a URL. What is wrong first is kept, in nats-server's words.
type reader struct {
	values url.Values
	err    error
}

func (r *reader) text(name string) string { return r.values.Get(name) }

// flag reads a truth value; false where there is none.
func (r *reader) flag(name string) bool {
	v := r.values.Get(name)
	if v == "" {
		return false
	}
	on, err := strconv.ParseBool(v)
	r.wrong("boolean", name, err)
	return on
}

// number reads an integer; 0 where there is none.
func (r *reader) number(name string) int {
	v := r.values.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	r.wrong("int", name, err)
	return n
}

// id reads a number of a connection; 0 where there is none.
func (r *reader) id(name string) uint64 {
	v := r.values.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 64)
	r.wrong("uint64", name, err)
	return n
}

// listing reads whether something is to be listed, and whether with details.
func (r *reader) listing(name string) (list, details bool) {
	if strings.EqualFold(r.values.Get(name), "detail") {
		return true, true
	}
	return r.flag(name), false
}

func (r *reader) wrong(kind, name string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("Error decoding %s for '%s': %w", kind, name, err)
	}
}
