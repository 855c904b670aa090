package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

func main() {
	n := flag.Int("n", 1_000_000, "subscriptions")
	pairs := flag.Int("pairs", 5, "measurements of each list")
	only := flag.String("only", "", "measure one list, natsd or nats-server, once, and print JSON")
	flag.Parse()
	if err := run(*n, *pairs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "sublist:", err)
		os.Exit(1)
	}
}

func run(n, pairs int, only string) error {
	switch only {
	case "natsd":
		return json.NewEncoder(os.Stdout).Encode(measure(newOwn(), newWorkload(n)))
	case "nats-server":
		return json.NewEncoder(os.Stdout).Encode(measure(newReference(), newWorkload(n)))
	case "":
	default:
		return fmt.Errorf("no list is called %q", only)
	}
	var own, ref []figures
	for i := range pairs {
		fmt.Fprintf(os.Stderr, "pair %d of %d\n", i+1, pairs)
		a, err := child("natsd", n)
		if err != nil {
			return err
		}
		b, err := child("nats-server", n)
		if err != nil {
			return err
		}
		if a.Reached != b.Reached {
			return fmt.Errorf("natsd reached %d, nats-server %d", a.Reached, b.Reached)
		}
		own, ref = append(own, a), append(ref, b)
	}
	report(n, own, ref)
	return nil
}

// child measures one list in a process of its own.
func child(name string, n int) (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	cmd := exec.Command(self, "-only", name, "-n", fmt.Sprint(n))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("measuring %s: %w", name, err)
	}
	return f, json.Unmarshal(out, &f)
}

// report prints medians: of each list's figures, and of the pairs' ratios.
func report(n int, own, ref []figures) {
	fmt.Printf("%d subscriptions, medians of %d pairs\n\n", n, len(own))
	fmt.Printf("%-34s %10s %12s %7s\n", "", "natsd", "nats-server", "ratio")
	for _, row := range []struct {
		name string
		of   func(figures) float64
	}{
		{"insert, ns", func(f figures) float64 { return f.InsertNs }},
		{"bytes each", func(f figures) float64 { return f.Bytes }},
		{"match, not cached, ns", func(f figures) float64 { return f.MissNs }},
		{"match, cached, ns", func(f figures) float64 { return f.HitNs }},
		{"inbox in, match, out, ns", func(f figures) float64 { return f.ChurnNs }},
		{"remove, ns", func(f figures) float64 { return f.RemoveNs }},
		{"bytes each, left after removal", func(f figures) float64 { return f.LeftBytes }},
	} {
		var a, b, ratio []float64
		for i := range own {
			x, y := row.of(own[i]), row.of(ref[i])
			a, b, ratio = append(a, x), append(b, y), append(ratio, x/y)
		}
		fmt.Printf("%-34s %10.1f %12.1f %7.2f\n", row.name, median(a), median(b), median(ratio))
	}
}

// median returns the middle of xs, which is not empty.
func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
