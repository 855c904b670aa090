package main

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthOverHTTP(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
		default:
			http.Error(w, "not well", http.StatusServiceUnavailable)
		}
	}
	plain, encrypted := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewTLSServer(http.HandlerFunc(answer))
	defer plain.Close()
	defer encrypted.Close()
	for _, url := range []string{plain.URL, plain.URL + "/", plain.URL + "/healthz", encrypted.URL} {
		if text, err := askHealth(url); err != nil || text != `{"status":"ok"}` {
			t.Errorf("%s: %q, %v", url, text, err)
		}
	}
	if _, err := askHealth(plain.URL + "/sick"); err == nil || !strings.Contains(err.Error(), "503 Service Unavailable: not well") {
		t.Errorf("got %v", err)
	}
	if status := healthMain([]string{plain.URL}); status != 0 {
		t.Errorf("status %d", status)
	}
	if status := healthMain([]string{plain.URL + "/sick"}); status != 1 {
		t.Errorf("status %d", status)
	}
}

func TestHealthOfAClientPort(t *testing.T) {
	for sent, want := range map[string]string{"INFO {}\r\n": "", "SSH-2.0\r\n": "no NATS server", "": "no greeting"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if c, err := ln.Accept(); err == nil {
				_, _ = c.Write([]byte(sent))
				c.Close()
			}
		}()
		_, err = askHealth("nats://" + ln.Addr().String())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", sent, err)
		}
		ln.Close()
	}
}

// A server that is told to have TLS before INFO is asked in that way.
func TestHealthWhereTLSComesFirst(t *testing.T) {
	lender := httptest.NewUnstartedServer(nil) // has a certificate
	lender.StartTLS()
	defer lender.Close()
	secure := &tls.Config{Certificates: lender.TLS.Certificates}
	for _, c := range []struct{ first, sent, want string }{
		{"", "INFO {}\r\n", ""}, {"", "SSH-2.0\r\n", "no NATS server"}, {"INFO {}\r\n", "", ""}, {"SSH-2.0\r\n", "", "no greeting"},
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c0, err := ln.Accept()
			if err != nil {
				return
			}
			defer c0.Close()
			if c.first != "" {
				_, _ = c0.Write([]byte(c.first))
				_, _ = io.Copy(io.Discard, c0)
				return
			}
			_, _ = tls.Server(c0, secure).Write([]byte(c.sent))
		}()
		_, err = askHealth("tls://" + ln.Addr().String())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
		ln.Close()
	}
}

func TestHealthOfNothing(t *testing.T) {
	for _, args := range [][]string{{"ftp://127.0.0.1"}, {"::"}, {"127.0.0.1:4222"}, {"nats:4222"}, {"nats://127.0.0.1:1"}, {"http://127.0.0.1:1"}} {
		if status := healthMain(args); status != 1 {
			t.Errorf("%v: status %d", args, status)
		}
	}
	if status := healthMain([]string{"a", "b"}); status != 2 {
		t.Errorf("two arguments: status %d", status)
	}
	if status := healthMain([]string{"-h"}); status != 0 {
		t.Errorf("help: status %d", status)
	}
}
