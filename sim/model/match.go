package model

import (
	"slices"
	"strconv"
	"strings"
)

// matches reports whether the pattern matches the subject: token by token. Nothing matches an empty token.
func matches(subj, pattern string) bool {
	s, p := strings.Split(subj, "."), strings.Split(pattern, ".")
	if slices.Contains(s, "") {
		return false
	}
	for i, t := range p {
		if t == ">" {
			return len(s) > i
		}
		if i >= len(s) || t != "*" && t != s[i] {
			return false
		}
	}
	return len(s) == len(p)
}

// Numbered replaces the wildcards of a pattern by $1, $2 and so on; ">" stays.
func Numbered(pattern string) string {
	tokens := strings.Split(pattern, ".")
	n := 0
	for i, t := range tokens {
		if t == "*" {
			n++
			tokens[i] = "$" + strconv.Itoa(n)
		}
	}
	return strings.Join(tokens, ".")
}

// capture returns what the wildcards of a pattern stand for in a subject that it matches: of ">" all the rest.
func capture(subj, pattern string) (stars []string, rest string) {
	s := strings.Split(subj, ".")
	for i, t := range strings.Split(pattern, ".") {
		switch t {
		case "*":
			stars = append(stars, s[i])
		case ">":
			return stars, strings.Join(s[i:], ".")
		}
	}
	return stars, ""
}

// fill writes a template.
func fill(template string, stars []string, rest string) string {
	tokens := strings.Split(template, ".")
	for i, t := range tokens {
		if n, ok := place(t); ok {
			tokens[i] = stars[n-1]
		} else if t == ">" {
			tokens[i] = rest
		}
	}
	return strings.Join(tokens, ".")
}

// place is n of "$n".
func place(token string) (int, bool) {
	if len(token) < 2 || token[0] != '$' {
		return 0, false
	}
	n, err := strconv.Atoi(token[1:])
	return n, err == nil
}

// captures reports whether a subject matches a pattern that takes its tokens apart: there a "*" takes no token that is ">",
// which only what is no subject to publish on has.
func captures(subj, pattern string) bool {
	if !matches(subj, pattern) {
		return false
	}
	stars, _ := capture(subj, pattern)
	return !slices.Contains(stars, ">")
}

// rewrite takes a subject to what the template makes of it; ok is false if the source does not capture it. A template that
// changes nothing takes nothing apart.
func rewrite(subj, source, template string) (string, bool) {
	if template == Numbered(source) {
		return subj, matches(subj, source)
	}
	if !captures(subj, source) {
		return "", false
	}
	stars, rest := capture(subj, source)
	return fill(template, stars, rest), true
}

// undo takes what the template made of a subject back to that subject; ok is false if the template makes no such thing.
func undo(subj, source, template string) (string, bool) {
	if template == Numbered(source) {
		return subj, matches(subj, source)
	}
	tokens := strings.Split(template, ".")
	pattern := slices.Clone(tokens)
	var order []int
	for i, t := range tokens {
		if n, ok := place(t); ok {
			pattern[i] = "*"
			order = append(order, n)
		}
	}
	if !captures(subj, strings.Join(pattern, ".")) {
		return "", false
	}
	got, rest := capture(subj, strings.Join(pattern, "."))
	stars := make([]string, len(got))
	for i, n := range order {
		stars[n-1] = got[i]
	}
	return fill(Numbered(source), stars, rest), true
}

// every tells visit of every subject that a pattern matches, as far as the patterns of others can tell them apart: at each
// place the tokens that any of them has there, and one that none has. It stops when visit returns false.
func every(pattern string, others []string, visit func(subj string) bool) {
	var at [][]string
	add := func(p string) {
		for i, t := range strings.Split(p, ".") {
			for len(at) <= i {
				at = append(at, []string{"~"})
			}
			if t != "*" && t != ">" && !slices.Contains(at[i], t) {
				at[i] = append(at[i], t)
			}
		}
	}
	add(pattern)
	for _, o := range others {
		add(o)
	}
	at = append(at, []string{"~"})
	var grow func(subj string, i int) bool
	grow = func(subj string, i int) bool {
		if i > 0 && matches(subj, pattern) && !visit(subj) {
			return false
		}
		if i == len(at) {
			return true
		}
		for _, t := range at[i] {
			if i > 0 {
				t = subj + "." + t
			}
			if !begins(t, pattern) {
				continue
			}
			if !grow(t, i+1) {
				return false
			}
		}
		return true
	}
	grow("", 0)
}

// begins reports whether a subject that begins with these tokens can match the pattern.
func begins(subj, pattern string) bool {
	s, p := strings.Split(subj, "."), strings.Split(pattern, ".")
	for i, t := range s {
		if i >= len(p) {
			return false
		}
		if p[i] == ">" {
			return true
		}
		if p[i] != "*" && p[i] != t {
			return false
		}
	}
	return true
}

// coveredBy reports whether whatever a matches, b matches too.
func coveredBy(a, b string) bool {
	all := true
	every(a, []string{b}, func(subj string) bool {
		all = matches(subj, b)
		return all
	})
	return all
}

// Meet reports whether some subject matches both patterns.
func Meet(a, b string) bool {
	some := false
	every(a, []string{b}, func(subj string) bool {
		some = matches(subj, b)
		return !some
	})
	return some
}
