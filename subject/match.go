package subject

// Match reports whether a message on literal reaches a subscription to
// pattern. The characters "*" and ">" mean nothing in literal.
func Match[L, P Text](literal L, pattern P) bool {
	i, j := 0, 0
	for {
		if j < len(pattern) && endsToken(pattern, j+1) {
			switch pattern[j] {
			case Full:
				if j+1 == len(pattern) {
					return i < len(literal)
				}
			case Star:
				i, j = TokenEnd(literal, i), j+1
				if i == len(literal) || j == len(pattern) {
					return i == len(literal) && j == len(pattern)
				}
				i, j = i+1, j+1
				continue
			}
		}
		for i < len(literal) && j < len(pattern) && literal[i] == pattern[j] && literal[i] != Sep {
			i, j = i+1, j+1
		}
		if i == len(literal) || j == len(pattern) {
			return i == len(literal) && j == len(pattern)
		}
		if literal[i] != pattern[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

// Collide reports whether some literal is matched by both patterns.
func Collide[A, B Text](a A, b B) bool {
	i, j := 0, 0
	for {
		ie, je := TokenEnd(a, i), TokenEnd(b, j)
		if isToken(a, i, ie, Full) || isToken(b, j, je, Full) {
			return true
		}
		if !isToken(a, i, ie, Star) && !isToken(b, j, je, Star) && !sameRange(a, i, ie, b, j, je) {
			return false
		}
		if ie == len(a) || je == len(b) {
			return ie == len(a) && je == len(b)
		}
		i, j = ie+1, je+1
	}
}

// IsSubset reports whether every literal that pattern a matches is matched by
// pattern b too.
func IsSubset[A, B Text](a A, b B) bool {
	i, j := 0, 0
	for {
		ie, je := TokenEnd(a, i), TokenEnd(b, j)
		if isToken(b, j, je, Full) {
			return true
		}
		if isToken(a, i, ie, Full) {
			return false
		}
		if !isToken(b, j, je, Star) &&
			(isToken(a, i, ie, Star) || !sameRange(a, i, ie, b, j, je)) {
			return false
		}
		if ie == len(a) || je == len(b) {
			return ie == len(a) && je == len(b)
		}
		i, j = ie+1, je+1
	}
}

// isToken reports whether s[from:to] is the one byte c.
func isToken[S Text](s S, from, to int, c byte) bool {
	return to-from == 1 && s[from] == c
}

// sameRange reports whether a[i:ie] and b[j:je] hold the same bytes.
func sameRange[A, B Text](a A, i, ie int, b B, j, je int) bool {
	if ie-i != je-j {
		return false
	}
	for ; i < ie; i, j = i+1, j+1 {
		if a[i] != b[j] {
			return false
		}
	}
	return true
}
