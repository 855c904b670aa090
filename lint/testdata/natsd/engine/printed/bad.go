package printed

import (
	"fmt"
	"io"
)

func show(w io.Writer) string {
	fmt.Println("hello") // want `use of .fmt.Println. forbidden because "D5: the terminal belongs to cmd`
	out := fmt.Printf    // want `use of .fmt.Printf. forbidden because "D5`
	_ = out
	fmt.Fprintln(w, "hello")
	return fmt.Sprint("hello")
}
