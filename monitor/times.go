package monitor

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Stamp is a moment of the wall clock, in nanoseconds since the Unix epoch, as it is shown.
func Stamp(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// Moment is a moment of the wall clock, in seconds since the Unix epoch, as it is shown: what JSON has no form for, before the year 0
// or after 9999, is the nearest that it has one for.
func Moment(s int64) time.Time {
	const year0, year9999 = -62_167_219_200, 253_402_300_799
	return time.Unix(min(max(s, year0), year9999), 0).UTC()
}

// Uptime is a duration in nats-server's form: "1y2d3h4m5s" without leading zeros.
func Uptime(d time.Duration) string {
	s := int64(d / time.Second)
	days := s / 86400
	out := ""
	if y := days / 365; y > 0 {
		out = fmt.Sprintf("%dy", y)
	}
	if days%365 > 0 || out != "" {
		out += fmt.Sprintf("%dd", days%365)
	}
	for _, u := range []struct {
		n    int64
		unit string
	}{{s % 86400 / 3600, "h"}, {s % 3600 / 60, "m"}} {
		if u.n > 0 || out != "" {
			out += fmt.Sprintf("%d%s", u.n, u.unit)
		}
	}
	return out + fmt.Sprintf("%ds", s%60)
}

// Seconds is a number of nanoseconds in seconds, without loss.
func Seconds(ns int64) json.Number { return json.Number(seconds(ns)) }

// seconds is a number of nanoseconds, in seconds, without loss.
func seconds(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	digits := strconv.FormatInt(ns, 10)
	if len(digits) < 10 {
		digits = strings.Repeat("0", 10-len(digits)) + digits
	}
	at := len(digits) - 9
	whole, rest := digits[:at], strings.TrimRight(digits[at:], "0")
	if rest == "" {
		return sign + whole
	}
	return sign + whole + "." + rest
}
