package floats

import "testing"

func BenchmarkShare(b *testing.B) { b.ReportMetric(1.5, "things/op") }
