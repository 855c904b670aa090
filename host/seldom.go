package host

import (
	"fmt"
	"sync"
	"time"
)

// seldom thins out a complaint about a condition that lasts: the first is made at once, the next not before every has
// passed, with the number of those left out meanwhile.
type seldom struct {
	every time.Duration

	mu   sync.Mutex
	next time.Time // before it, complaints are counted only
	left int
}

// say returns what to log for a complaint made at now; empty: nothing.
func (s *seldom) say(now time.Time, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.next) {
		s.left++
		return ""
	}
	if s.left > 0 {
		text = fmt.Sprintf("%s (not logged before: %d)", text, s.left)
	}
	s.next, s.left = now.Add(s.every), 0
	return text
}
