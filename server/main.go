package server

import (
	"errors"
	"fmt"
	"os"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// Main is the program: it takes natsd's flags, serves until it is told to stop by a signal, and returns the exit status.
func Main(args []string) int {
	signals := catchSignals()
	s, err := parseFlags(args)
	if err != nil {
		return fail(err)
	}
	switch {
	case s.showHelp:
		fmt.Print(usage)
		return 0
	case s.showHelpTLS:
		fmt.Print(helpTLS())
		return 0
	case s.showVersion:
		printVersion(os.Stdout)
		return 0
	case s.signal != "":
		if err := sendSignal(s.signal); err != nil {
			return fail(err)
		}
		return 0
	case s.testOnly:
		return s.test()
	}
	log, err := host.NewLogger(s.log)
	if err != nil {
		return fail(err)
	}
	defer log.Close()
	if err := serve(s, args, log, signals); err != nil {
		if !errors.Is(err, host.ErrNotListening) { // the engine has logged that
			log.Log(engine.LevelFatal, "", err.Error())
		}
		if s.log.File != "" {
			return fail(err) // whoever starts it by hand does not look into the file first
		}
		return 1
	}
	return 0
}

// test is -t: it says whether the settings can be used, answers --explain, and returns the exit status.
func (s *settings) test() int {
	if err := s.doubtful(); err != nil {
		return fail(err)
	}
	for _, w := range s.warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	fmt.Fprintln(os.Stderr, programName()+":", s.valid())
	if len(s.asked) > 0 {
		if err := s.explainTo(os.Stdout); err != nil {
			return fail(err)
		}
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, programName()+":", err)
	return 1
}

func serve(s *settings, args []string, log *host.Logger, signals chan os.Signal) error {
	v, err := prepare(s, args, log, func(o *host.Options) {
		if !o.Portable {
			o.Processors = host.HoldProcessors() // the process is ours
		}
	})
	if err != nil {
		return err
	}
	v.logger = log
	defer handleSignals(signals, v)()
	if err := v.start(); err != nil {
		return err
	}
	go v.host.ReturnMemory()
	return v.Wait()
}
