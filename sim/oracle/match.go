package oracle

import "strings"

// The oracle reads subjects by rules of its own, written as plainly as they can be: a mistake in the server's must not be
// shared.

const (
	sep  = "."
	star = "*"
	full = ">"
)

// reaches reports whether a message on subj reaches a subscription to pattern. Wildcards in subj mean nothing; with an
// empty token it reaches nobody, which hasEmptyToken says.
func reaches(subj, pattern string) bool {
	for {
		want, restOfPattern, morePattern := strings.Cut(pattern, sep)
		if want == full && !morePattern {
			return true
		}
		got, restOfSubject, moreSubject := strings.Cut(subj, sep)
		if want != star && want != got || moreSubject != morePattern {
			return false
		}
		if !moreSubject {
			return true
		}
		subj, pattern = restOfSubject, restOfPattern
	}
}

func hasEmptyToken(subj string) bool {
	return subj == "" || subj[0] == '.' || subj[len(subj)-1] == '.' || strings.Contains(subj, "..")
}

// tokenEnd is where the token that begins at pos ends: at the next dot, or at the end.
func tokenEnd(s string, pos int) int {
	if i := strings.IndexByte(s[pos:], '.'); i >= 0 {
		return pos + i
	}
	return len(s)
}
