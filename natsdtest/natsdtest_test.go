package natsdtest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsd/natsd/natsdtest"
	"github.com/natsd/natsd/server"
)

// A service and its client, with a server of their own.
func TestExample(t *testing.T) {
	s := natsdtest.Run(t)
	service := s.Connect()
	if _, err := service.Subscribe("greet", func(m *nats.Msg) {
		if err := m.Respond([]byte("hello " + string(m.Data))); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := service.Flush(); err != nil {
		t.Fatal(err)
	}
	answer, err := s.Connect().Request("greet", []byte("world"), time.Minute)
	if err != nil || string(answer.Data) != "hello world" {
		t.Errorf("%v, %v", answer, err)
	}
}

// Several servers in one process have nothing to do with each other.
func TestSeveralServers(t *testing.T) {
	one, two := natsdtest.Run(t), natsdtest.RunOptions(t, server.Options{Flags: []string{"-D", "-m", "-1", "-n", "two", "--user", "ann", "--pass", "s3cret"}})
	if one.Addr() == two.Addr() || one.MonitorURL() != "" || two.MonitorURL() == "" {
		t.Errorf("%s, %q and %s, %q", one.Addr(), one.MonitorURL(), two.Addr(), two.MonitorURL())
	}
	if _, err := nats.Connect(two.URL()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a password: %v", err)
	}
	nc := two.Connect(nats.UserInfo("ann", "s3cret"))
	if nc.ConnectedServerName() != "two" {
		t.Errorf("the name is %q", nc.ConnectedServerName())
	}
	one.Stop()
	one.Stop()
	if err := nc.Flush(); err != nil {
		t.Error(err)
	}
}

func TestConfigAndReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "natsd.conf")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("max_payload: 1000\n")
	s := natsdtest.RunConfig(t, file)
	if got := s.Connect().MaxPayload(); got != 1000 {
		t.Errorf("max_payload is %d", got)
	}
	write("max_payload: {\n")
	if err := s.Reload(); err == nil {
		t.Error("a bad file was taken")
	}
	write("max_payload: 2000\n")
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := s.Connect().MaxPayload(); got != 2000 {
		t.Errorf("max_payload is %d after the reload", got)
	}
}

func TestLameDuck(t *testing.T) {
	s := natsdtest.Run(t)
	s.LameDuck()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if err := s.Reload(); err == nil {
		t.Error("what has ended was reloaded")
	}
}

func TestServersThatCanNotStart(t *testing.T) {
	port := natsdtest.Run(t).Host().Port()
	for name, o := range map[string]server.Options{
		"port in use": {Port: port}, "no file": {ConfigFile: filepath.Join(t.TempDir(), "none")}, "no server": {Flags: []string{"-v"}},
		"no flag": {Flags: []string{"--frobnicate"}}, "port of monitoring": {Flags: []string{"-m", "99999"}},
		"monitoring": {Flags: []string{"-m", strconv.Itoa(port)}},
	} {
		if _, err := natsdtest.Start(t, o); err == nil {
			t.Errorf("%s: it started", name)
		}
	}
}
