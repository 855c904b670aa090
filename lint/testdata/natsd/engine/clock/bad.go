package clock

import (
	"context"
	"time"
	. "time"
	wall "time"
)

type config struct{ now func() time.Time }

func clocks(ctx context.Context, at time.Time) {
	_ = time.Now()                               // want `use of .time.Now. forbidden because "D2: time comes from`
	_ = wall.Since(at)                           // want `use of .wall.Since. forbidden because "D2`
	_ = Until(at)                                // want `use of .Until. forbidden because "D2`
	c := config{now: time.Now}                   // want `use of .time.Now. forbidden because "D2`
	sleep := wall.Sleep                          // want `use of .wall.Sleep. forbidden because "D2`
	_ = time.After(time.Second)                  // want `use of .time.After. forbidden because "D2`
	time.AfterFunc(1, nil)                       // want `use of .time.AfterFunc. forbidden because "D2`
	_ = time.Tick(1)                             // want `use of .time.Tick. forbidden because "D2`
	_ = time.NewTimer(1)                         // want `use of .time.NewTimer. forbidden because "D2`
	_ = time.NewTicker(1)                        // want `use of .time.NewTicker. forbidden because "D2`
	_ = at.Local()                               // want `use of .at.Local. forbidden because "D2: the machine's time zone`
	_ = at.In(time.Local)                        // want `use of .time.Local. forbidden because "D2: the machine's time zone`
	_, _ = time.LoadLocation("")                 // want `use of .time.LoadLocation. forbidden because "D2`
	_, _ = context.WithTimeout(ctx, time.Second) // want `use of .context.WithTimeout. forbidden because "D2: deadlines`
	_, _ = context.WithDeadline(ctx, at)         // want `use of .context.WithDeadline. forbidden because "D2: deadlines`
	_, _, _ = c, sleep, at.Add(3*time.Second).UTC()
}
