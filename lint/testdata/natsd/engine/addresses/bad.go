package addresses

import (
	"fmt"
	"io"
)

type conn struct {
	id   int
	next *conn
}

type named struct{ to *conn }

func (named) String() string { return "named" }

const format = "conn %-8p\n" // want `D5: %p prints an address`

func text(w io.Writer, c *conn, id *int) string {
	fmt.Fprintf(w, format, c)    // want `D5: fmt prints the address of a pointer in this value`
	s := fmt.Sprintf("%d", id)   // want `D5: fmt prints the address of a pointer in this value`
	s += fmt.Sprint([]*conn{c})  // want `D5: fmt prints the address of a pointer in this value`
	s += fmt.Sprintf("%v", text) // want `D5: fmt prints the address of a function in this value`
	s += fmt.Sprint(c.id, named{c}, &named{c}, &[]int{1}, map[string]int{})
	return fmt.Sprintf("100%%p%s", s)
}
