package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"golang.org/x/crypto/bcrypt"

	"github.com/natsd/natsd/engine"
)

func TestConnectOptions(t *testing.T) {
	for name, options := range map[string][]nats.Option{
		"plain":             nil,
		"name":              {nats.Name("a name with \"quotes\" and ünïcode")},
		"verbose":           {func(o *nats.Options) error { o.Verbose = true; return nil }},
		"pedantic":          {func(o *nats.Options) error { o.Pedantic = true; return nil }},
		"verbose, pedantic": {func(o *nats.Options) error { o.Verbose, o.Pedantic = true, true; return nil }},
		"old requests":      {nats.UseOldRequestStyle()},
		"no credentials":    {nats.UserInfo("nobody", "asked")},
		"no randomize":      {nats.DontRandomize(), nats.RetryOnFailedConnect(false)},
	} {
		t.Run(name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				s := w.serve(engine.Options{Check: true})
				nc := s.connect(options...)
				sub, err := nc.SubscribeSync("a.*")
				ok(t, err)
				ok(t, nc.Publish("a.b", []byte("hello")))
				msg, err := sub.NextMsg(patience)
				ok(t, err)
				if string(msg.Data) != "hello" || msg.Subject != "a.b" {
					t.Errorf("got %q on %q", msg.Data, msg.Subject)
				}
				ok(t, nc.LastError())
			})
		})
	}
}

func TestServerInfoAtTheClient(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{ServerName: "duckling", MaxPayload: 12345})
		nc := s.connect()
		if got := nc.ConnectedServerVersion(); got != engine.NatsVersion {
			t.Errorf("version %q", got)
		}
		if got := nc.ConnectedServerName(); got != "duckling" {
			t.Errorf("name %q", got)
		}
		if got := nc.MaxPayload(); got != 12345 {
			t.Errorf("max payload %d", got)
		}
		if id := nc.ConnectedServerId(); len(id) != 56 || id[0] != 'N' {
			t.Errorf("server id %q", id)
		}
		if !nc.HeadersSupported() || nc.AuthRequired() || nc.TLSRequired() {
			t.Errorf("headers %v, auth %v, TLS %v", nc.HeadersSupported(), nc.AuthRequired(), nc.TLSRequired())
		}
		cid, err := nc.GetClientID()
		ok(t, err)
		ip, err := nc.GetClientIP()
		ok(t, err)
		if cid != 1 || ip.String() != "127.0.0.1" {
			t.Errorf("client %d at %v", cid, ip)
		}
	})
}

func TestNoEcho(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{Check: true})
		silent, other := s.connect(nats.NoEcho()), s.connect()
		own, err := silent.SubscribeSync("a")
		ok(t, err)
		ok(t, silent.Flush())
		ok(t, silent.Publish("a", []byte("own")))
		ok(t, silent.Flush())
		ok(t, other.Publish("a", []byte("other")))
		msg, err := own.NextMsg(patience)
		ok(t, err)
		if string(msg.Data) != "other" {
			t.Errorf("got %q", msg.Data)
		}
	})
}

func hash(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	ok(t, err)
	return string(h)
}

func TestCredentials(t *testing.T) {
	type attempt struct {
		name    string
		options []nats.Option
		welcome bool
	}
	none := attempt{"none", nil, false}
	right := attempt{"right", []nats.Option{nats.UserInfo("ann", "s3cret")}, true}
	for _, c := range []struct {
		name     string
		server   engine.Options
		attempts []attempt
	}{
		{"user and password", engine.Options{User: "ann", Pass: "s3cret"}, []attempt{
			none, right,
			{"wrong password", []nats.Option{nats.UserInfo("ann", "S3cret")}, false},
			{"wrong user", []nats.Option{nats.UserInfo("bob", "s3cret")}, false},
			{"empty password", []nats.Option{nats.UserInfo("ann", "")}, false},
			{"token instead", []nats.Option{nats.Token("s3cret")}, false},
		}},
		{"hashed password", engine.Options{User: "ann", Pass: hash(t, "s3cret")}, []attempt{
			none, right,
			{"wrong password", []nats.Option{nats.UserInfo("ann", "wrong")}, false},
			{"wrong user", []nats.Option{nats.UserInfo("bob", "s3cret")}, false},
		}},
		{"token", engine.Options{Token: "t0ken"}, []attempt{
			none,
			{"right", []nats.Option{nats.Token("t0ken")}, true},
			{"wrong", []nats.Option{nats.Token("token")}, false},
			{"user instead", []nats.Option{nats.UserInfo("t0ken", "t0ken")}, false},
		}},
		{"hashed token", engine.Options{Token: hash(t, "t0ken")}, []attempt{
			none,
			{"right", []nats.Option{nats.Token("t0ken")}, true},
			{"wrong", []nats.Option{nats.Token("token")}, false},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) {
				o := c.server
				o.Check, o.AuthTimeout = true, patience
				s := w.serve(o)
				for _, a := range c.attempts {
					nc, err := nats.Connect(s.url, append(a.options, nats.Timeout(patience))...)
					if a.welcome {
						if err != nil {
							t.Errorf("%s: %v", a.name, err)
							continue
						}
						ok(t, nc.Flush())
						nc.Close()
					} else if !errors.Is(err, nats.ErrAuthorization) {
						t.Errorf("%s: got %v, want an authorization violation", a.name, err)
						if err == nil {
							nc.Close()
						}
					}
				}
				until(t, "all connections to be gone", func() bool { return s.Footprint().Connections == 0 })
			})
		})
	}
}

func TestCredentialsInTheURL(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{User: "ann", Pass: "p@ss/word"})
		nc, err := nats.Connect("nats://ann:p%40ss%2Fword@"+s.addr, nats.Timeout(patience))
		ok(t, err)
		ok(t, nc.Flush())
		nc.Close()
	})
}

func TestTooManyConnections(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{MaxConnections: 2, Check: true})
		first, _ := s.connect(), s.connect()
		_, err := nats.Connect(s.url, nats.Timeout(patience))
		if err == nil || !strings.Contains(err.Error(), "maximum connections exceeded") {
			t.Errorf("got %v", err)
		}
		first.Close()
		until(t, "a place to be free", func() bool {
			nc, err := nats.Connect(s.url, nats.Timeout(patience))
			if err != nil {
				return false
			}
			nc.Close()
			return true
		})
	})
}

func TestAuthTimeout(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		s := w.serve(engine.Options{User: "ann", Pass: "s3cret", AuthTimeout: 1, Check: true})
		c := w.dial(s.addr)
		c.expect("-ERR 'Authentication Timeout'")
		c.expectEnd()
	})
}

// A crowd that logs in with hashed passwords must not keep the server from its work.
func TestLoginsDoNotStopTheServer(t *testing.T) {
	hosts(t, func(t *testing.T, w *world) {
		h, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost+3)
		ok(t, err)
		s := w.serve(engine.Options{User: "ann", Pass: string(h), AuthTimeout: patience})
		inside := s.connect(nats.UserInfo("ann", "s3cret"))
		var crowd []*rawClient
		for range 8 {
			c := w.dial(s.addr)
			c.send("CONNECT {\"user\":\"ann\",\"pass\":\"wrong\"}\r\n")
			crowd = append(crowd, c)
		}
		waiting := s.Footprint().Jobs
		ok(t, inside.FlushTimeout(patience))
		if left := s.Footprint().Jobs; waiting == 8 && left == 0 {
			t.Error("a ping was answered only after all logins")
		}
		for _, c := range crowd {
			c.expect("-ERR 'Authorization Violation'")
		}
	})
}
