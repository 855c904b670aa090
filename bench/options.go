package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

// options is what the command line asks for.
type options struct {
	server      string // path of the server under test
	peer        string // path of the server to compare with, empty for none
	only        *regexp.Regexp
	pairs       int           // runs of each scenario, on each server
	duration    time.Duration // measured part of a run
	warmUp      time.Duration // part of a run before that
	windowBytes int64         // bytes of messages under way, over all receivers
	json        string        // file for the JSON result, empty for none
	check       bool          // compare with the targets
	strict      bool          // a missed target is an exit status of 1
	ceiling     bool          // measure the generator itself
}

const (
	pairsMin         = 5
	windowMiBDefault = 8
	windowMiBMax     = 31 // nats-server drops a receiver at 64 MiB pending
)

// parseOptions reads the command line. It writes its complaints and the usage to
// output.
func parseOptions(args []string, output io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&o.server, "server", "", "`path` of the server binary to measure")
	flags.StringVar(&o.peer, "peer", "", "`path` of a server binary to compare it with, in alternation")
	only := flags.String("scenario", "", "run only scenarios whose name or title matches this `regexp`")
	flags.IntVar(&o.pairs, "pairs", pairsMin, "how often each scenario runs on each server; below 5 the medians mean little")
	flags.DurationVar(&o.duration, "duration", time.Second, "how long each run measures")
	flags.DurationVar(&o.warmUp, "warmup", 300*time.Millisecond, "how long each run goes on before it measures")
	window := flags.Int64("window", windowMiBDefault, "`MiB` of messages that may be under way at a time")
	flags.StringVar(&o.json, "json", "", "write all samples and medians to this `file`")
	flags.BoolVar(&o.check, "check", false, "say for each target whether it is met")
	flags.BoolVar(&o.strict, "strict", false, "exit with status 1 when a target is missed or was not measured; implies -check")
	flags.BoolVar(&o.ceiling, "ceiling", false, "measure the generator against a sink instead of a server")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o.windowBytes = *window << 20
	o.check = o.check || o.strict
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return options{}, fmt.Errorf("-scenario: %w", err)
	}
	switch {
	case flags.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.ceiling && (o.server != "" || o.peer != ""):
		return options{}, errors.New("-ceiling takes neither -server nor -peer")
	case !o.ceiling && o.server == "":
		return options{}, errors.New("-server is missing")
	case o.pairs < 1:
		return options{}, errors.New("-pairs must be at least 1")
	case o.duration <= 0 || o.warmUp < 0:
		return options{}, errors.New("-duration must be positive and -warmup not negative")
	case *window < 1 || *window > windowMiBMax:
		return options{}, fmt.Errorf("-window must be between 1 and %d", windowMiBMax)
	}
	return o, nil
}
