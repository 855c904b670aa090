package transcript

import "bytes"

// verdict is what a connection's unread bytes say about an expectation.
type verdict int

const (
	undecided verdict = iota // more bytes may still fulfil it
	fulfilled
	failed
)

// match holds an expectation of bytes against what has arrived and is not yet accounted for. A fulfilled expectation
// takes the first n bytes.
func (s *Step) match(got []byte) (n int, v verdict) {
	switch s.Op {
	case OpExpect:
		return matchPrefix(s.Data, got)
	case OpExpectLine:
		end := bytes.Index(got, []byte("\r\n"))
		if end < 0 {
			return 0, undecided
		}
		if s.Pattern.Match(got[:end]) {
			return end + 2, fulfilled
		}
		return 0, failed
	case OpExpectOne:
		return matchOne(s.Choices, got)
	case OpExpectAll:
		return matchAll(s.Choices, got)
	}
	return 0, failed
}

func matchPrefix(want, got []byte) (int, verdict) {
	if len(got) < len(want) {
		if bytes.HasPrefix(want, got) {
			return 0, undecided
		}
		return 0, failed
	}
	if bytes.HasPrefix(got, want) {
		return len(want), fulfilled
	}
	return 0, failed
}

func matchOne(choices [][]byte, got []byte) (int, verdict) {
	best := failed
	for _, choice := range choices {
		n, v := matchPrefix(choice, got)
		if v == fulfilled {
			return n, v
		}
		if v == undecided {
			best = undecided
		}
	}
	return 0, best
}

// matchAll takes the choices greedily. None of them may be the beginning of another, which holds for whole messages.
func matchAll(choices [][]byte, got []byte) (int, verdict) {
	left := append([][]byte(nil), choices...)
	total := 0
	for len(left) > 0 {
		found := -1
		waiting := false
		for i, choice := range left {
			_, v := matchPrefix(choice, got[total:])
			if v == fulfilled {
				found = i
				break
			}
			waiting = waiting || v == undecided
		}
		if found < 0 {
			if waiting {
				return 0, undecided
			}
			return 0, failed
		}
		total += len(left[found])
		left = append(left[:found], left[found+1:]...)
	}
	return total, fulfilled
}
