package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type options struct {
	only  string
	part  string
	pick  string
	seeds int
	seed  uint64
	hangs time.Duration
	list  bool
	keep  bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "mutants whose names match this regular expression")
	flag.StringVar(&o.part, "part", "", "`i/n`: of n parts of the mutants the i-th, from 0")
	flag.StringVar(&o.pick, "pick", "", "`hash/n`: the part that a commit's hash picks out of n")
	flag.IntVar(&o.seeds, "seeds", 0, "seeds for each mutant (default: as its file says)")
	flag.Uint64Var(&o.seed, "seed", 1, "the first seed")
	flag.DurationVar(&o.hangs, "run-timeout", 30*time.Second, "wall time after which a run counts as hanging")
	flag.BoolVar(&o.list, "list", false, "list the mutants and check that their edits apply")
	flag.BoolVar(&o.keep, "keep", false, "shrink the run that finds the mutant and keep its log in "+keptLogs)
	flag.Parse()
	ok, err := run(&o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(o *options) (ok bool, err error) {
	root, err := findRoot()
	if err != nil {
		return false, err
	}
	all, err := readMutants(filepath.Join(root, "sim", "mutants", "testdata"))
	if err != nil {
		return false, err
	}
	chosen, err := choose(all, o)
	if err != nil {
		return false, err
	}
	if o.list {
		return list(root, chosen), nil
	}
	tmp, err := os.MkdirTemp("", "natsd-mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	sound, err := build(root, tmp, "sound", nil)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d mutants of %d\n", len(chosen), len(all))
	began := time.Now()
	var results []found
	for _, m := range chosen {
		f := try(root, tmp, sound, m, o)
		fmt.Println(f.line())
		results = append(results, f)
	}
	return summary(results, time.Since(began)), nil
}

// try plants one mutant and hunts it.
func try(root, tmp, sound string, m *mutant, o *options) found {
	began := time.Now()
	edited, err := m.plant(root)
	if err != nil {
		return found{mutant: m, err: err}
	}
	program, err := build(root, tmp, m.name, edited)
	if err != nil {
		return found{mutant: m, err: err}
	}
	built := time.Since(began)
	seeds := m.seeds
	if o.seeds > 0 {
		seeds = o.seeds
	}
	f := hunt(m, program, sound, o.seed, seeds, o.hangs)
	f.build = built
	if log := keptLog(root, m); f.err == nil && o.keep {
		f.err = keep(root, program, &f)
	} else if f.err == nil && log != "" {
		f.err = judgeKept(m, program, sound, log)
		f.kept = true
	}
	if err := os.RemoveAll(filepath.Dir(program)); err != nil && f.err == nil {
		f.err = err
	}
	return f
}

// choose picks the mutants that the flags ask for.
func choose(all []*mutant, o *options) ([]*mutant, error) {
	part, parts, err := rotation(o)
	if err != nil {
		return nil, err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	var chosen []*mutant
	for i, m := range all {
		if i%parts == part && only.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// rotation is which part of how many is wanted. A commit's hash picks one, so that the commits take turns and the same
// commit is always tested in the same way.
func rotation(o *options) (part, parts int, err error) {
	text := o.part
	if o.pick != "" {
		text = o.pick
	}
	if text == "" {
		return 0, 1, nil
	}
	a, b, _ := strings.Cut(text, "/")
	if parts, err = strconv.Atoi(b); err != nil || parts < 1 {
		return 0, 0, fmt.Errorf("%q has no positive number behind the slash", text)
	}
	if o.pick == "" {
		if part, err = strconv.Atoi(a); err != nil || part < 0 || part >= parts {
			return 0, 0, fmt.Errorf("%q: the part must be from 0 to %d", text, parts-1)
		}
		return part, parts, nil
	}
	hash, err := strconv.ParseUint(a[:min(len(a), 8)], 16, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no commit", a)
	}
	return int(hash % uint64(parts)), parts, nil
}

func list(root string, mutants []*mutant) (ok bool) {
	ok = true
	for _, m := range mutants {
		fmt.Printf("%-32s %-8s %s\n", m.name, m.promise, m.what)
		if _, err := m.plant(root); err != nil {
			fmt.Printf("%-32s %v\n", "", err)
			ok = false
		}
	}
	return ok
}

func (f *found) line() string {
	head := fmt.Sprintf("%-32s ", f.mutant.name)
	cost := fmt.Sprintf("runs=%d simulated=%v wall=%v build=%v", f.runs, f.simulated.Round(time.Second),
		f.wall.Round(10*time.Millisecond), f.build.Round(100*time.Millisecond))
	switch {
	case f.err != nil:
		return head + "ERROR " + f.err.Error()
	case f.property == "":
		return head + "SURVIVED " + cost + " (" + f.mutant.what + ")"
	}
	surprise := ""
	if !f.mutant.expects(f.property) {
		surprise = " (expected: " + strings.Join(f.mutant.property, ", ") + ")"
	}
	if f.kept {
		surprise += " and by its kept log"
	}
	return head + fmt.Sprintf("found seed=%d %s property=%s%s", f.seed, cost, f.property, surprise)
}

// summary prints the totals and reports whether every mutant was found.
func summary(results []found, wall time.Duration) bool {
	var runs []int
	bad := 0
	for i := range results {
		if f := &results[i]; f.err != nil || f.property == "" {
			bad++
		} else {
			runs = append(runs, f.runs)
		}
	}
	slices.Sort(runs)
	median, most := 0, 0
	if len(runs) > 0 {
		median, most = runs[len(runs)/2], runs[len(runs)-1]
	}
	fmt.Printf("mutants=%d found=%d not=%d runs until found: median %d, most %d; wall=%v\n",
		len(results), len(runs), bad, median, most, wall.Round(time.Second))
	if bad > 0 {
		fmt.Println("a mutant that survives means that a property is missing")
	}
	return bad == 0
}
