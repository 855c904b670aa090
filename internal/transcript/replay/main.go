package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/natsd/natsd/internal/transcript"
)

type options struct {
	server string
	peer   string
	run    *regexp.Regexp
	pieces []int
	record bool
	strict bool
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "server binary to play the transcripts against")
	flag.StringVar(&o.peer, "peer", "", "second server binary: compare the answers of both instead of checking them")
	flag.BoolVar(&o.record, "record", false, "replace the lines \"A ?\" by what the server sends")
	flag.BoolVar(&o.strict, "strict", false, "send byte by byte even where nats-server is known to answer differently then")
	run := flag.String("run", "", "play only scenarios whose name matches this regular expression")
	whole := flag.Bool("whole", false, "play each scenario once, with sends in one piece")
	random := flag.Int("random", 0, "with -peer: compare the answers to so many random scripts")
	seed := flag.Uint64("seed", 1, "of the random scripts")
	jobs := flag.Int("j", 4, "scenarios played at a time")
	flag.Parse()
	o.pieces = []int{0, 1}
	if *whole || o.record {
		o.pieces = o.pieces[:1]
	}
	var err error
	if o.run, err = regexp.Compile(*run); err != nil {
		exitWith(err)
	}
	if *random > 0 && o.server != "" && o.peer != "" {
		differences, err := randomScripts(&o, *seed, *random)
		if err != nil {
			exitWith(err)
		}
		fmt.Printf("%d scripts, %d differences\n", *random, differences)
		exitIf(differences > 0)
		return
	}
	if o.server == "" || flag.NArg() == 0 {
		exitWith(fmt.Errorf("usage: replay -server BINARY [flags] FILE…"))
	}
	failures := 0
	total := 0
	for _, name := range flag.Args() {
		played, failed, err := playFile(&o, name, max(*jobs, 1))
		if err != nil {
			exitWith(err)
		}
		total += played
		failures += failed
	}
	fmt.Printf("%d scenarios, %d failures\n", total, failures)
	exitIf(failures > 0)
}

func exitIf(failed bool) {
	if failed {
		os.Exit(1)
	}
}

func exitWith(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// playFile plays a file's scenarios, some at a time, and prints what failed in the order of the file.
func playFile(o *options, name string, jobs int) (played, failed int, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, err
	}
	scenarios, err := transcript.Parse(name, data)
	if err != nil {
		return 0, 0, err
	}
	reports := make([][]string, len(scenarios))
	recordings := make([][]transcript.Recording, len(scenarios))
	slots := make(chan struct{}, jobs)
	var wait sync.WaitGroup
	for i := range scenarios {
		if !o.run.MatchString(scenarios[i].Name) {
			continue
		}
		played++
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			reports[i], recordings[i] = playScenario(o, &scenarios[i])
		})
	}
	wait.Wait()
	for _, report := range reports {
		for _, line := range report {
			fmt.Println(line)
		}
		if len(report) > 0 {
			failed++
		}
	}
	if o.record {
		err = rewrite(name, data, recordings)
	}
	return played, failed, err
}

func playScenario(o *options, sc *transcript.Scenario) (report []string, recordings []transcript.Recording) {
	for _, piece := range o.pieces {
		if piece > 0 && (sc.Whole || sc.WholeForPeer && !o.strict) {
			continue
		}
		if o.peer != "" {
			report = append(report, compare(o, sc, piece)...)
			continue
		}
		recorded, err := play(o.server, sc, piece, o.record)
		if err != nil && !o.record {
			// On a busy machine a server's PING may come before the client has sent its bytes. A second failure counts.
			fmt.Printf("again: %v%s\n", err, how(piece))
			_, err = play(o.server, sc, piece, false)
		}
		recordings = append(recordings, recorded...)
		if err != nil {
			report = append(report, err.Error()+how(piece))
		}
	}
	return report, recordings
}

func how(piece int) string {
	if piece == 0 {
		return ""
	}
	return " (sent byte by byte)"
}

// play runs one scenario against a fresh server. It waits longer for what may come where that is to be recorded.
func play(binary string, sc *transcript.Scenario, piece int, record bool) ([]transcript.Recording, error) {
	s, err := startServer(binary, sc.Config, sc.Conf)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s: %w", sc.File, sc.Line, sc.Name, err)
	}
	defer s.stop()
	sc = sc.For(dialectOf(binary))
	if record {
		s.silence = recordSilence
	}
	return transcript.Run(sc, s, piece)
}

// dialectOf asks a binary for its version to tell which server it is. natsd names nats-server on its second line only.
func dialectOf(binary string) transcript.Dialect {
	said, err := exec.Command(binary, "-v").Output()
	if err == nil && strings.HasPrefix(string(said), "nats-server") {
		return transcript.NatsServer
	}
	return transcript.Natsd
}
