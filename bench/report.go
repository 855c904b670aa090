package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// title is how a metric is called in the tables.
func (m metric) title() string {
	switch m {
	case messagesPerSecond:
		return "messages/s"
	case serverNs:
		return "server CPU per message"
	case generatorNs:
		return "generator CPU per message"
	case generatorShare:
		return "generator busy"
	case residentMemory:
		return "RSS"
	case latencyP50:
		return "latency p50"
	case latencyP99:
		return "latency p99"
	case latencyP999:
		return "latency p99.9"
	case bytesPerConnection:
		return "RSS per connection"
	case longestTurnNs:
		return "longest turn"
	case mostTurnCPUNs:
		return "most CPU of a turn"
	case stillClockNs:
		return "longest pause of an idle loop"
	case stillCPUNs:
		return "most CPU between two looks of an idle loop"
	}
	return string(m)
}

// format writes a value of the metric with its unit.
func (m metric) format(value float64) string {
	switch m {
	case messagesPerSecond:
		return count(value)
	case serverNs, generatorNs:
		return fmt.Sprintf("%s ns", threeDigits(value))
	case generatorShare:
		return fmt.Sprintf("%.0f %%", 100*value)
	case residentMemory:
		return fmt.Sprintf("%s MiB", threeDigits(value/(1<<20)))
	case bytesPerConnection:
		return fmt.Sprintf("%s KiB", threeDigits(value/(1<<10)))
	case latencyP50, latencyP99, latencyP999, longestTurnNs, mostTurnCPUNs, stillClockNs, stillCPUNs:
		return fmt.Sprintf("%s µs", threeDigits(value/float64(time.Microsecond)))
	}
	return fmt.Sprint(value)
}

// count writes a rate with at most three digits.
func count(value float64) string {
	switch {
	case value >= 1e6:
		return threeDigits(value/1e6) + " M"
	case value >= 1e3:
		return threeDigits(value/1e3) + " k"
	}
	return threeDigits(value)
}

// threeDigits writes a value with three digits, or all of its whole ones.
func threeDigits(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// writeMarkdown writes the whole result.
func (r result) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Machine: %s, %d cores, %s, generator built with %s.\n", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go)
	fmt.Fprintf(&b, "Server: %s.\n", r.Server)
	if r.Peer != nil {
		fmt.Fprintf(&b, "Peer: %s.\n", *r.Peer)
	}
	fmt.Fprintf(&b, "Medians of %d runs of %.3g s on each server, a fresh process each, in alternation; ratios are medians of the runs' ratios, %s/%s.\n",
		r.Settings.Pairs, r.Settings.DurationSeconds, r.Server.Name, r.peerName())
	b.WriteString("A message is a delivery to one subscriber; without subscribers a publish; in request/reply a request with its reply. ")
	fmt.Fprintf(&b, "The generator's columns are from its runs against %s.\n\n", r.Server.Name)
	r.writeLoads(&b)
	r.writeLatencies(&b)
	r.writeMemory(&b)
	r.writeRules(&b)
	r.writeTurns(&b)
	r.writeErrors(&b)
	r.writeVerdicts(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r result) peerName() string {
	if r.Peer == nil {
		return "peer"
	}
	return r.Peer.Name
}

// pair writes three cells for a metric: server, peer, ratio; without a peer the
// first only.
func (r result) pair(c comparison, m metric) string {
	cells := cell(c.ServerMedians, m, m.format)
	if r.Peer == nil {
		return cells
	}
	ratio := func(v float64) string { return fmt.Sprintf("**%.2f ×**", v) }
	return cells + " | " + cell(c.PeerMedians, m, m.format) + " | " + cell(c.MedianRatios, m, ratio)
}

// cell writes one figure, or a dash when it was not measured.
func cell(figures map[metric]float64, m metric, format func(float64) string) string {
	v, found := figures[m]
	if !found {
		return "–"
	}
	return format(v)
}

// heads writes the column heads that pair's cells belong under.
func (r result) heads(m metric) (head, rule string) {
	if r.Peer == nil {
		return m.title(), "---:"
	}
	return fmt.Sprintf("%s: %s | %s | ratio", m.title(), r.Server.Name, r.Peer.Name), "---:|---:|---:"
}

// writeTable writes a table of the given metrics for each scenario that has the
// first of them, and nothing when none has.
func (r result) writeTable(b *strings.Builder, metrics []metric, last ...metric) {
	var rows []comparison
	for _, c := range r.Scenarios {
		if _, found := c.ServerMedians[metrics[0]]; found && !c.Itself {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return
	}
	line, rules := "| scenario", "|---"
	for _, m := range metrics {
		head, rule := r.heads(m)
		line, rules = line+" | "+head, rules+"|"+rule
	}
	for _, m := range last {
		line, rules = line+" | "+m.title(), rules+"|---:"
	}
	b.WriteString(line + " |\n" + rules + "|\n")
	for _, c := range rows {
		b.WriteString("| " + c.Title)
		for _, m := range metrics {
			b.WriteString(" | " + r.pair(c, m))
		}
		for _, m := range last {
			b.WriteString(" | " + cell(c.ServerMedians, m, m.format))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n")
}

func (r result) writeLoads(b *strings.Builder) {
	r.writeTable(b, []metric{messagesPerSecond, serverNs}, generatorNs, generatorShare)
}

func (r result) writeLatencies(b *strings.Builder) {
	r.writeTable(b, []metric{latencyP50, latencyP99, latencyP999})
}

func (r result) writeMemory(b *strings.Builder) {
	r.writeTable(b, []metric{residentMemory})
	r.writeTable(b, []metric{bytesPerConnection})
}

// writeRules says what configurations add to a message.
func (r result) writeRules(b *strings.Builder) {
	lines := ""
	for _, c := range r.Scenarios {
		if _, found := c.MedianRatios[serverNs]; !found || !c.Itself {
			continue
		}
		lines += "| " + c.Title
		for _, m := range []metric{messagesPerSecond, serverNs} {
			lines += fmt.Sprintf(" | %s | %s | **%.2f ×**", cell(c.ServerMedians, m, m.format), cell(c.PeerMedians, m, m.format), c.MedianRatios[m])
		}
		lines += " |\n"
	}
	if lines == "" {
		return
	}
	fmt.Fprintf(b, "What rules cost: %s with them and without, in alternation.\n\n", r.Server.Name)
	b.WriteString("| scenario | messages/s: with | without | ratio | server CPU per message: with | without | ratio |\n|---|---:|---:|---:|---:|---:|---:|\n" + lines + "\n")
}

// writeTurns names the longest turn of every run, since a median would hide it,
// by the clock and by what it used: the rest is what others had of its core.
// What the machine adds to both is measured beside.
func (r result) writeTurns(b *strings.Builder) {
	for _, c := range r.Scenarios {
		for _, x := range []struct {
			metric metric
			called string
		}{
			{longestTurnNs, "Longest turn under the %s by the clock, each run:"},
			{mostTurnCPUNs, "Most CPU that a turn used under the %s, each run:"},
			{stillClockNs, "Longest pause of a loop that does nothing, behind each run of the %s, as long as it and on every core:"},
			{stillCPUNs, "Most CPU that such a loop seemed to use from one look at the clock to the next, behind each run of the %s:"},
		} {
			turns := column(c.ServerSamples, x.metric)
			if len(turns) == 0 {
				continue
			}
			fmt.Fprintf(b, x.called, c.Title)
			for _, t := range turns {
				b.WriteString(" " + x.metric.format(t))
			}
			b.WriteString(".\n\n")
		}
	}
}

func (r result) writeErrors(b *strings.Builder) {
	for _, c := range r.Scenarios {
		if c.Error != "" {
			fmt.Fprintf(b, "FAILED %s: %s\n\n", c.Name, c.Error)
		}
	}
}

func (r result) writeVerdicts(b *strings.Builder) {
	if len(r.Targets) == 0 {
		return
	}
	b.WriteString("| target | figure | wanted | measured | outcome |\n|---|---|---:|---:|---|\n")
	for _, v := range r.Targets {
		measured := "–"
		if v.Outcome != outcomeNotMeasured {
			measured = fmt.Sprintf("%.2f ×", v.Measured)
			if !strings.HasSuffix(v.Wanted, "×") {
				measured = v.Metric.format(v.Measured)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", v.Title, v.Metric.title(), v.Wanted, measured, v.Outcome)
	}
}
