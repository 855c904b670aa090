//go:build !linux

package host

import (
	"runtime"
	"time"
)

const measuresCPU = false

// threadCPU returns false: what a thread uses is not measured here.
func threadCPU() (time.Duration, bool) { return 0, false }

// usage measures what the process uses.
type usage struct{}

// sample returns the bytes that the Go runtime has from the system. The CPU is not measured here: 0.
func (u *usage) sample() (rss int64, percent float64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys), 0
}
