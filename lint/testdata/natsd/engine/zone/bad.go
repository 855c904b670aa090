package zone

import (
	"time"
	clock "time"
)

func zone(ns int64) (a, b, c time.Time) {
	a = time.Unix(0, ns) // want `D2: time.Unix is in the machine's time zone`
	f := clock.UnixMilli // want `D2: time.UnixMilli is in the machine's time zone`
	return a, f(ns), time.Unix(0, ns).UTC()
}
