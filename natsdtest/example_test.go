package natsdtest_test

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/server"
)

type silent struct{}

func (silent) Log(engine.Level, string, string) {}

// A program that brings its server along.
func Example() {
	s, err := server.Start(server.Options{Log: silent{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Stop()
	nc, err := nats.Connect(s.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("a.*")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := nc.Publish("a.b", []byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	m, err := sub.NextMsg(nats.DefaultTimeout)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Subject, string(m.Data))
	// Output: a.b hello
}
