package claims

import (
	"fmt"
	"time"
)

// Window is a part of the day, in seconds since midnight. One that ends before it begins goes over midnight.
type Window struct{ Start, End int }

const (
	clockLayout = "15:04:05"
	secondsDay  = 24 * 60 * 60
)

func parseWindow(start, end string) (w Window, err error) {
	for _, x := range [...]struct {
		text string
		to   *int
	}{{start, &w.Start}, {end, &w.End}} {
		t, err := time.Parse(clockLayout, x.text)
		if err != nil {
			return w, fmt.Errorf("time range: %q is not of the form %s", x.text, clockLayout)
		}
		*x.to = t.Hour()*3600 + t.Minute()*60 + t.Second()
	}
	return w, nil
}

// Within reports whether the moment at, in the zone that the windows are meant in, lies in one of them, and the end of that
// which ends last; windows that touch are not joined. No windows are always.
func Within(windows []Window, at time.Time) (ends time.Time, in bool) {
	if len(windows) == 0 {
		return time.Time{}, true
	}
	y, m, d := at.Date()
	for _, w := range windows {
		length := w.End - w.Start
		if length < 0 {
			length += secondsDay
		}
		for _, day := range [...]int{d - 1, d} { // yesterday's may still be open
			start := time.Date(y, m, day, 0, 0, w.Start, 0, at.Location())
			end := time.Date(y, m, day, 0, 0, w.Start+length, 0, at.Location())
			if !at.Before(start) && at.Before(end) && (!in || end.After(ends)) {
				ends, in = end, true
			}
		}
	}
	return ends, in
}
