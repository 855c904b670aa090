// Command natsd is a NATS server. `natsd` serves; `natsd sim` runs the simulator.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

func main() { os.Exit(serveMain(os.Args[1:])) }

func serveMain(args []string) int {
	o := engine.Options{}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-p":
			i++
			fmt.Sscan(args[i], &o.Port)
		case "-a":
			i++
			o.Host = args[i]
		}
	}
	log, err := host.NewLogger(host.LogOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer log.Close()
	s, err := host.New(host.Options{Engine: o, Log: log})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ch
		s.Stop()
	}()
	if err := s.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
