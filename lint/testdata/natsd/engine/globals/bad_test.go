package globals

import (
	"flag"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

var seen int // want `D9: package-level variable seen is written`

func TestUse(t *testing.T) {
	seen++
	t.Log(*rewrite)
}
