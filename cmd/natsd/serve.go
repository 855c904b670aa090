package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// serveMain runs the server and returns the exit status.
func serveMain(args []string) int {
	signals := catchSignals()
	s, err := parseFlags(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, programName()+":", err)
		return 1
	}
	switch {
	case s.showHelp:
		fmt.Print(usage)
		return 0
	case s.showVersion:
		printVersion(os.Stdout)
		return 0
	case s.signal != "":
		if err := sendSignal(s.signal); err != nil {
			fmt.Fprintln(os.Stderr, programName()+":", err)
			return 1
		}
		return 0
	case s.testOnly:
		return s.test()
	}
	log, err := host.NewLogger(s.log)
	if err != nil {
		fmt.Fprintln(os.Stderr, programName()+":", err)
		return 1
	}
	defer log.Close()
	if err := serve(s, args, log, signals); err != nil {
		if !errors.Is(err, host.ErrNotListening) { // the engine has logged that
			log.Log(engine.LevelFatal, "", err.Error())
		}
		if s.log.File != "" {
			fmt.Fprintln(os.Stderr, programName()+":", err) // whoever starts it by hand does not look into the file first
		}
		return 1
	}
	log.Log(engine.LevelInfo, "", "Server Exiting..")
	return 0
}

// test is -t: it says whether the settings can be used, answers --explain, and returns the exit status.
func (s *settings) test() int {
	err := s.doubtful()
	if err == nil {
		fmt.Fprintln(os.Stderr, programName()+":", s.valid())
		if len(s.asked) > 0 {
			err = s.explainTo(os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, programName()+":", err)
		return 1
	}
	return 0
}

func serve(s *settings, args []string, log *host.Logger, signals chan os.Signal) error {
	log.Log(engine.LevelInfo, "", "Starting natsd")
	log.Log(engine.LevelInfo, "", "  Version:  "+version+" (nats-server "+engine.NatsVersion+")")
	if c := commit(); c != "" {
		log.Log(engine.LevelInfo, "", "  Git:      ["+c+"]")
	}
	if s.configFile != "" {
		log.Log(engine.LevelInfo, "", "Using configuration file: "+s.configFile+" ("+s.digest+")")
	}
	for _, w := range s.warnings {
		log.Log(engine.LevelWarn, "", w)
	}
	if err := s.tls.serve(); err != nil {
		return err
	}
	srv, err := host.New(host.Options{Engine: s.engine, Portable: s.portable, TLS: s.tls.live.Clients(), Log: log})
	if err != nil {
		return err
	}
	defer s.tls.keepStapled(srv, log)()
	stopSignals := handleSignals(signals, srv, s, args, log)
	defer stopSignals()
	failed := make(chan error, 1)
	go func() { failed <- srv.Run() }()
	<-srv.Ready()
	if srv.Port() == 0 {
		return <-failed
	}
	var monitorPort int
	if s.httpPort != 0 {
		m, err := monitor(srv, s, log)
		if err != nil {
			srv.Stop()
			<-failed
			return err
		}
		defer m.Close()
		monitorPort = m.Port()
	}
	files, err := writeFiles(s, srv.Port(), monitorPort)
	defer func() { s.removeFiles(files) }()
	if err != nil {
		srv.Stop()
		<-failed
		return err
	}
	return <-failed
}

// monitor opens the monitoring port.
func monitor(srv *host.Server, s *settings, log *host.Logger) (*host.Monitoring, error) {
	m, err := srv.Monitor(host.MonitorOptions{Addr: net.JoinHostPort(s.monitorHost(), strconv.Itoa(max(s.httpPort, 0)))})
	if err != nil {
		return nil, err
	}
	log.Log(engine.LevelInfo, "", "Starting http monitor on "+net.JoinHostPort(s.monitorHost(), strconv.Itoa(m.Port())))
	return m, nil
}

// monitorHost is the address that monitoring listens on: its own, else the one for clients.
func (s *settings) monitorHost() string { return cmp.Or(s.httpHost, s.engine.Host, "0.0.0.0") }
