package undocumented // want `style: package undocumented has no doc.go`

import . "strings" // want `style: dot import`

func Exported() string { return ToUpper("a") } // want `style: exported Exported has no doc comment`

// It does not start with its name.
func Named() {} // want `style: the doc comment of Named does not start with its name`

type Thing struct{} // want `style: exported Thing has no doc comment`

// String needs none, but may have one.
func (Thing) String() string { return "" }

func (Thing) Method() {} // want `style: exported Method has no doc comment`

func (thing) Method() {}

type thing struct{}

// A Good thing is documented.
type Good struct{}

var Limit = func() int { // want `style: exported Limit has no doc comment`
	return 3
}()

// Limits of something.
const (
	LimitLow  = 1
	LimitHigh = 2
)

const (
	// First is documented.
	First  = 1
	Second = 2 // Second as well.
)
