package schema

import "strings"

// Nearest returns the name among known that word is most likely meant to be, or "" where none is near.
func Nearest(word string, known []string) string {
	best, least := "", len(word)/3+1
	for _, k := range known {
		n := distance(word, k)
		if n > least && len(word) > 3 && (strings.HasPrefix(k, word) || strings.HasPrefix(word, k) && len(k) > 3) {
			n = least
		}
		if n < least || n == least && best == "" {
			best, least = k, n
		}
	}
	return best
}

// distance is how many characters must be put in, left out, replaced or swapped with their neighbour to make b of a.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
