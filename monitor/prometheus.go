package monitor

import (
	"strconv"
	"strings"
)

// text is a page in Prometheus' text format, version 0.0.4: families of samples, each with its help and type before it.
type text struct{ strings.Builder }

// family begins a family.
func (t *text) family(name, kind, help string) {
	t.WriteString("# HELP " + name + " " + helpEscapes.Replace(help) + "\n# TYPE " + name + " " + kind + "\n")
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// sample writes one sample; labels are names and values by turns.
func (t *text) sample(name, value string, labels ...string) {
	t.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		if i == 0 {
			t.WriteByte('{')
		} else {
			t.WriteByte(',')
		}
		t.WriteString(labels[i] + `="` + labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		t.WriteByte('}')
	}
	t.WriteString(" " + value + "\n")
}

func (t *text) gauge(name, help, value string) {
	t.family(name, "gauge", help)
	t.sample(name, value)
}

func (t *text) counter(name, help string, value uint64) {
	t.family(name, "counter", help)
	t.sample(name, strconv.FormatUint(value, 10))
}

// Buckets below 2^firstBucket nanoseconds, a microsecond, are told together, and so are those from 2^lastBucket on.
const (
	firstBucket = 10
	lastBucket  = 34
)

func (t *text) histogram(name, help string, h *Histogram) {
	t.family(name, "histogram", help)
	n := uint64(0)
	for i, c := range h.Counts {
		n += c
		if i >= firstBucket && i <= lastBucket {
			t.sample(name+"_bucket", strconv.FormatUint(n, 10), "le", seconds(int64(1)<<i))
		}
	}
	t.sample(name+"_bucket", strconv.FormatUint(n, 10), "le", "+Inf")
	t.sample(name+"_sum", seconds(h.Sum))
	t.sample(name+"_count", strconv.FormatUint(n, 10))
}
