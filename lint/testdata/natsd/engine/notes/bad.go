package notes

import "maps"

func sum(m map[string]int) (n int) {
	for _, v := range m { //natsd:orderfree addition commutes
		n += v
	}
	//natsd:orderfree addition commutes,
	// whatever the order
	for _, v := range m {
		n += v
	}
	//natsd:orderfree the predicate looks at nothing but its arguments
	maps.DeleteFunc(m, func(string, int) bool { return true })

	for range m { //natsd:orderfree // want `annotation //natsd:orderfree needs a reason` `D4: range over a map`
	}
	//natsd:orderfree nothing here is a map // want `annotation //natsd:orderfree excuses nothing`
	for range 3 {
	}
	for range m { //natsd:orderfree speaks for its own line only
		for range m { // want `D4: range over a map`
		}
	}
	for range map[string]int{
		"a": 1,
	} { //natsd:orderfree at the end of a long range clause
	}
	//natsd:ordreless oh // want `unknown annotation //natsd:ordreless`
	return n
}
