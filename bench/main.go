//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == sinkArgument {
		if err := runSink(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench: sink:", err)
			os.Exit(1)
		}
		return
	}
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = bench(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var (
	errScenarios = errors.New("scenarios failed")
	errTargets   = errors.New("targets were not met")
)

// bench runs the scenarios and writes the result. The error is non-nil when a
// scenario failed or, with -strict, when a target was missed.
func bench(o options) error {
	// The parent death signal of the servers is that of this thread's death.
	runtime.LockOSThread()
	if err := allowOpenFiles(idleConnections + idleSpareFiles); err != nil {
		return err
	}
	r := result{
		Machine: thisMachine(),
		Settings: settings{
			Pairs: o.pairs, DurationSeconds: o.duration.Seconds(),
			WarmUpSeconds: o.warmUp.Seconds(), WindowBytes: o.windowBytes,
		},
	}
	contenders, err := r.contenders(o)
	if err != nil {
		return err
	}
	failed := false
	for _, sc := range scenarios() {
		if !o.only.MatchString(sc.name) && !o.only.MatchString(sc.title) {
			continue
		}
		if o.ceiling && !sc.plain {
			continue
		}
		c := comparison{Name: sc.name, Title: sc.title, Itself: sc.itself}
		samples, err := alternate(sc, sc.contenders(contenders), o, os.Stderr)
		if err != nil {
			c.Error, failed = err.Error(), true
			fmt.Fprintf(os.Stderr, "%s FAILED: %v\n", sc.name, err)
		}
		c.ServerSamples = samples[0]
		if len(samples) > 1 {
			c.PeerSamples = samples[1]
		}
		c.summarise()
		r.Scenarios = append(r.Scenarios, c)
	}
	return r.conclude(o, failed)
}

// contenders inspects the servers and notes what they are.
func (r *result) contenders(o options) ([]contender, error) {
	if o.ceiling {
		c, err := ceilingContender()
		r.Server = serverInfo{Name: c.name, Version: "the generator's own", Go: r.Machine.Go}
		return []contender{c}, err
	}
	var err error
	if r.Server, err = inspect(o.server); err != nil {
		return nil, err
	}
	list := []contender{{name: r.Server.Name, program: program{path: o.server}}}
	if o.peer == "" {
		return list, nil
	}
	peer, err := inspect(o.peer)
	if err != nil {
		return nil, err
	}
	if peer.Name == r.Server.Name {
		peer.Name += " (peer)"
	}
	r.Peer = &peer
	return append(list, contender{name: peer.Name, program: program{path: o.peer}}), nil
}

// conclude writes the result and turns it into the outcome of the command.
func (r *result) conclude(o options, failed bool) error {
	if o.check {
		r.Targets = judge(r.Scenarios)
	}
	if err := r.writeMarkdown(os.Stdout); err != nil {
		return err
	}
	if o.json != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if failed {
		return errScenarios
	}
	for _, v := range r.Targets {
		if o.strict && v.Outcome != outcomeMet {
			return errTargets
		}
	}
	return nil
}
