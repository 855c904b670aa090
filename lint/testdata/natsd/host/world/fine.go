package world

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	count float64
)

func serve(l net.Listener, conns map[string]net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(time.Second)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
	for name, c := range conns {
		fmt.Println(os.Getpid(), name, time.Now(), c)
	}
	mu.Lock()
	count += 0.5
	mu.Unlock()
}
