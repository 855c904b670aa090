//go:build linux

package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	loginsPerSecond = 2000
	// loginLife is how long a client of the flood waits for its refusal, longer
	// than servers give it by default.
	loginLife = 3 * time.Second
)

// besideLogins measures requests of one client, one at a time, while others try
// to log in with wrong passwords.
func besideLogins(s *server, o options) (sample, error) {
	x, err := newExchange(s.at(), "bench.request", smallPayloadBytes)
	if err != nil {
		return nil, err
	}
	defer x.close()
	var stop atomic.Bool
	flood := make(chan error, 1)
	go func() { flood <- logins(s.at(), &stop) }()
	// What they have to wait for has to pile up first.
	o.warmUp = max(o.warmUp, loginLife)
	measured, err := x.measure(s, o)
	stop.Store(true)
	if floodErr := <-flood; err == nil && floodErr != nil {
		err = fmt.Errorf("flood: %w", floodErr)
	}
	if err != nil {
		return nil, err
	}
	// What the server does is refuse logins: figures per message say nothing.
	return sample{latencyP50: measured[latencyP50], latencyP99: measured[latencyP99], latencyP999: measured[latencyP999]}, nil
}

// attempt is a connection of the flood.
type attempt struct {
	fd   int
	ends time.Time
}

// logins opens connections that log in with a wrong password, at an even rate,
// until told to stop. It has a thread of its own.
func logins(to endpoint, stop *atomic.Bool) error {
	runtime.LockOSThread()
	var open []attempt
	defer func() {
		for _, a := range open {
			_ = unix.Close(a.fd) // it is given up
		}
	}()
	begin := time.Now()
	for n := 0; !stop.Load(); n++ {
		now := time.Now()
		if due := begin.Add(time.Duration(n) * time.Second / loginsPerSecond); now.Before(due) {
			time.Sleep(due.Sub(now))
		}
		for len(open) > 0 && open[0].ends.Before(now) {
			_ = unix.Close(open[0].fd) // the same
			open = open[1:]
		}
		fd, err := tryLogin(to, n)
		if err != nil {
			return err
		}
		open = append(open, attempt{fd, now.Add(loginLife)})
	}
	return nil
}

// tryLogin connects and sends a CONNECT with a password that nobody has. It
// waits for nothing.
func tryLogin(to endpoint, n int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socket: %w", err)
	}
	// Closing resets the connection: a run leaves no TIME_WAIT behind.
	if err = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err == nil {
		// Each comes from an address of its own within 127.0.0.0/8, as the
		// clients of a real flood do, and has a port of its own for sure.
		from := &unix.SockaddrInet4{Addr: [4]byte{127, 1, byte(n >> 8), byte(n)}}
		err = unix.Bind(fd, from)
	}
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrInet4{Port: to.port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		line := fmt.Sprintf("CONNECT {\"verbose\":false,\"user\":\"victim\",\"pass\":\"wrong %d\"}\r\n", n)
		_, err = unix.SendmsgN(fd, []byte(line), nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EPIPE || err == unix.ECONNRESET {
			err = nil // it was refused already
		}
	}
	if err != nil {
		_ = unix.Close(fd) // it is given up
		return 0, fmt.Errorf("login %d: %w", n, err)
	}
	return fd, nil
}
