package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// serveMain runs the server and returns the exit status.
func serveMain(args []string) int {
	s, err := parseFlags(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		return 1
	}
	switch {
	case s.showHelp:
		fmt.Print(usage)
		return 0
	case s.showVersion:
		printVersion(os.Stdout)
		return 0
	case s.testOnly:
		fmt.Fprintln(os.Stderr, "natsd: configuration is valid")
		return 0
	}
	log, err := host.NewLogger(s.log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		return 1
	}
	defer log.Close()
	if err := serve(s, args, log); err != nil {
		if !errors.Is(err, host.ErrNotListening) { // the engine has logged that
			log.Log(engine.LevelFatal, "", err.Error())
		}
		if s.log.File != "" {
			fmt.Fprintln(os.Stderr, "natsd:", err) // whoever starts it by hand does not look into the file first
		}
		return 1
	}
	log.Log(engine.LevelInfo, "", "Server Exiting..")
	return 0
}

func serve(s *settings, args []string, log *host.Logger) error {
	log.Log(engine.LevelInfo, "", "Starting natsd")
	log.Log(engine.LevelInfo, "", "  Version:  "+version+" (nats-server "+engine.NatsVersion+")")
	if c := commit(); c != "" {
		log.Log(engine.LevelInfo, "", "  Git:      ["+c+"]")
	}
	if s.configFile != "" {
		log.Log(engine.LevelInfo, "", "Using configuration file: "+s.configFile)
	}
	srv, err := host.New(host.Options{Engine: s.engine, Portable: s.portable, Log: log})
	if err != nil {
		return err
	}
	stopSignals := handleSignals(srv, args, log)
	defer stopSignals()
	failed := make(chan error, 1)
	go func() { failed <- srv.Run() }()
	<-srv.Ready()
	if srv.Port() == 0 {
		return <-failed
	}
	var monitorPort int
	if s.httpPort != 0 {
		host := s.httpHost
		if host == "" {
			host = cmp.Or(s.engine.Host, "0.0.0.0")
		}
		m, err := srv.Monitor(net.JoinHostPort(host, strconv.Itoa(max(s.httpPort, 0))))
		if err != nil {
			srv.Stop()
			<-failed
			return err
		}
		defer m.Close()
		monitorPort = m.Port()
		log.Log(engine.LevelInfo, "", "Starting http monitor on "+net.JoinHostPort(host, strconv.Itoa(monitorPort)))
	}
	files, err := writeFiles(s, srv.Port(), monitorPort)
	defer func() {
		for _, f := range files {
			os.Remove(f)
		}
	}()
	if err != nil {
		srv.Stop()
		<-failed
		return err
	}
	return <-failed
}

// writeFiles writes the pid file and the ports file and returns those that exist now.
func writeFiles(s *settings, clientPort, monitorPort int) (written []string, err error) {
	if s.pidFile != "" {
		if err := writeWhole(s.pidFile, []byte(strconv.Itoa(os.Getpid())), 0o660); err != nil {
			return written, fmt.Errorf("the pid file can't be written: %w", err)
		}
		written = append(written, s.pidFile)
	}
	if s.portsDir != "" {
		exe := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
		name := filepath.Join(s.portsDir, fmt.Sprintf("%s_%d.ports", exe, os.Getpid()))
		urls := map[string][]string{"nats": reachable("nats", s.engine.Host, clientPort)}
		if monitorPort > 0 {
			urls["monitoring"] = reachable("http", s.engine.Host, monitorPort)
		}
		ports, err := json.Marshal(urls)
		if err != nil {
			return written, err
		}
		if err := writeWhole(name, ports, 0o640); err != nil {
			return written, fmt.Errorf("the ports file can't be written: %w", err)
		}
		written = append(written, name)
	}
	return written, nil
}

// writeWhole writes a file that others wait for: it appears with all of its content. Where the directory takes no other
// name, or the name is no plain file, it is written in place.
func writeWhole(name string, content []byte, mode os.FileMode) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, content, mode)
	}
	partial := name + ".new"
	if err := os.WriteFile(partial, content, mode); err != nil {
		return os.WriteFile(name, content, mode)
	}
	if err := os.Rename(partial, name); err != nil {
		os.Remove(partial)
		return err
	}
	return nil
}

// reachable lists how a port is reached: for a wildcard address, by every address of this machine.
func reachable(scheme, addr string, port int) []string {
	url := func(host string) string { return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) }
	if ip := net.ParseIP(addr); addr != "" && (ip == nil || !ip.IsUnspecified()) {
		return []string{url(addr)}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return []string{url("127.0.0.1")}
	}
	var urls []string
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			urls = append(urls, url(n.IP.String()))
		}
	}
	return urls
}
