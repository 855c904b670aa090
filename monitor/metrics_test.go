package monitor

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	sampleForm = regexp.MustCompile(`^([a-z_]+)(\{[a-z_]+="([^"\\\n]|\\["\\n])*"(,[a-z_]+="([^"\\\n]|\\["\\n])*")*\})? (-?[0-9.]+)$`)
	familyForm = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
)

// The text is what Prometheus' format asks for: each family once, with help and type before its samples, every name with its
// unit, counters ending in _total, and buckets that grow.
func TestTextFormat(t *testing.T) {
	m := Metrics{Varz: &Varz{Name: "a\"b\\c\nd\xff", Start: Stamp(5e9), Loaded: Stamp(6e9), LongestTurn: 1500, MostTurnCPU: 1200}, Turns: Histogram{Counts: make([]uint64, 41), Sum: 1_000_000_001}}
	m.Turns.Counts[3], m.Turns.Counts[20], m.Turns.Counts[40] = 1, 2, 4
	for i := range accountSeries + 20 {
		m.AddAccount(AccountStat{Name: fmt.Sprintf("A%d", i), Conns: 1, Received: Traffic{Msgs: 2}}, 3)
	}
	body, err := m.Body()
	if err != nil {
		t.Fatal(err)
	}
	text := body.(string)
	families := map[string]string{}
	name, kind := "", ""
	last := uint64(0)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# HELP ") {
			name, kind = strings.Fields(line)[2], ""
			if families[name] != "" {
				t.Errorf("%s is there twice", name)
			}
			continue
		}
		if f := familyForm.FindStringSubmatch(line); f != nil {
			if f[1] != name {
				t.Errorf("the type of %s is in %s", f[1], name)
			}
			kind = f[2]
			families[name] = kind
			if (kind == "counter") != strings.HasSuffix(name, "_total") {
				t.Errorf("%s is a %s", name, kind)
			}
			last = 0
			continue
		}
		f := sampleForm.FindStringSubmatch(line)
		if f == nil {
			t.Errorf("no sample: %q", line)
			continue
		}
		of := f[1]
		if kind == "histogram" {
			of = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(of, "_bucket"), "_sum"), "_count")
		}
		if of != name || kind == "" || !strings.HasPrefix(of, "natsd_") {
			t.Errorf("a sample of %s in %s", f[1], name)
		}
		if strings.HasSuffix(f[1], "_bucket") {
			n, err := strconv.ParseUint(f[6], 10, 64)
			if err != nil || n < last {
				t.Errorf("buckets shrink: %s", line)
			}
			last = n
		}
	}
	for _, want := range []string{
		`natsd_info{server_id="",server_name="a\"b\\c\nd` + "\uFFFD" + `"`, "natsd_start_time_seconds 5\n", "natsd_longest_turn_seconds 0.0000015\n", "natsd_most_turn_cpu_seconds 0.0000012\n",
		`natsd_turn_seconds_bucket{le="0.000001024"} 1` + "\n", `natsd_turn_seconds_bucket{le="0.001048576"} 3` + "\n",
		`natsd_turn_seconds_bucket{le="+Inf"} 7` + "\n", "natsd_turn_seconds_sum 1.000000001\n", "natsd_turn_seconds_count 7\n",
		`natsd_account_received_messages_total{account="A0"} 2` + "\n", `natsd_account_received_messages_total{account=""} 40` + "\n",
		"natsd_accounts_unnamed 20\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(text, "natsd_account_connections{"); n != accountSeries+1 {
		t.Errorf("%d series of accounts", n)
	}
	if all := m.AllAccounts(); all.Conns != accountSeries+20 || all.Received.Msgs != 2*(accountSeries+20) {
		t.Errorf("%+v", all)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.000000001", 1_000_000_000: "1", 1_500_000_000: "1.5", 123_456_789_012: "123.456789012", -5: "-0.000000005"} { //natsd:orderfree each stands alone
		if got := seconds(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

// Every metric is documented, and everything documented is there.
func TestMetricsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	m := Metrics{Varz: &Varz{}}
	m.AddAccount(AccountStat{Name: "A"}, 0)
	body, err := m.Body()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(body.(string), -1) {
		there[f[1]] = true
		if !strings.Contains(string(doc), "`"+f[1]+"`") {
			t.Errorf("%s is not documented", f[1])
		}
	}
	for _, f := range regexp.MustCompile("`(natsd_[a-z_]+)`").FindAllStringSubmatch(string(doc), -1) {
		if !there[f[1]] {
			t.Errorf("%s is documented and not there", f[1])
		}
	}
}
