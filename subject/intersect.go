package subject

import "strings"

// Intersect returns the pattern that matches exactly what both a and b match. ok is false when nothing is. Both are valid
// patterns.
func Intersect(a, b string) (both string, ok bool) {
	if a == b {
		return a, true
	}
	var out []string
	for {
		at, arest, amore := strings.Cut(a, ".")
		bt, brest, bmore := strings.Cut(b, ".")
		switch {
		case at == ">":
			return strings.Join(append(out, b), "."), true
		case bt == ">":
			return strings.Join(append(out, a), "."), true
		case at == bt || bt == "*":
			out = append(out, at)
		case at == "*":
			out = append(out, bt)
		default:
			return "", false
		}
		if amore != bmore {
			return "", false
		}
		if !amore {
			return strings.Join(out, "."), true
		}
		a, b = arest, brest
	}
}
