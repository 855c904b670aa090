package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const healthUsage = `Usage: natsd healthcheck [url]

Asks a server how it is and exits 0 when it is well: for containers and service managers without other tools.

    http://host:port[/path]    answers with status 200; the path is /healthz where none is given
    https://host:port[/path]   the same; its certificate is not verified
    nats://host:port           greets a client
    tls://host:port            the same where TLS comes first (handshake_first); its certificate is not verified

The url is http://127.0.0.1:8222/healthz where none is given.
`

// healthPatience is how long a server may take to answer.
const healthPatience = 5 * time.Second

// greeting is what a server's first line begins with.
const greeting = "INFO "

// healthTextMax bounds what is printed of an answer, in bytes.
const healthTextMax = 4096

// healthMain carries out `natsd healthcheck` and returns the exit status.
func healthMain(args []string) int {
	target := "http://127.0.0.1:8222"
	if len(args) > 0 {
		target = args[0]
	}
	if len(args) > 1 || strings.HasPrefix(target, "-") {
		fmt.Fprint(os.Stderr, healthUsage)
		if target == "-h" || target == "--help" {
			return 0
		}
		return 2
	}
	text, err := askHealth(target)
	if err != nil {
		fmt.Fprintln(os.Stderr, "natsd: "+target+": "+err.Error())
		return 1
	}
	fmt.Println(text)
	return 0
}

// askHealth asks the server at a URL how it is.
func askHealth(target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return "", errNoAddress
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	switch u.Scheme {
	case "http", "https":
		if u.Path == "" || u.Path == "/" {
			u.Path = "/healthz"
		}
		return askHTTP(ctx, u)
	case "nats", "tls":
		return awaitGreeting(ctx, u)
	default:
		return "", errNoAddress
	}
}

var errNoAddress = errors.New("a server's address is http://, https://, nats:// or tls://, a host and perhaps a port: nats://127.0.0.1:4222")

func trusting() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
}

func askHTTP(ctx context.Context, u *url.URL) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{
		// The question is whether it answers, asked from beside it, by an address that no certificate names.
		TLSClientConfig: trusting(),
	}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, healthTextMax))
	text := strings.TrimSpace(string(body))
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, text)
	}
	return text, err
}

// awaitGreeting connects like a client and waits for INFO. With tls:// it begins with a handshake; a server that greets before that
// all the same is as well.
func awaitGreeting(ctx context.Context, u *url.URL) (string, error) {
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), "4222")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	end, _ := ctx.Deadline()
	if err := c.SetDeadline(end); err != nil {
		return "", err
	}
	if u.Scheme == "tls" {
		secure := tls.Client(c, trusting())
		var plain tls.RecordHeaderError
		switch err := secure.HandshakeContext(ctx); {
		case errors.As(err, &plain) && string(plain.RecordHeader[:]) == greeting:
			return "ok", nil
		case err != nil:
			return "", fmt.Errorf("no greeting: %w", err)
		}
		c = secure
	}
	line, err := bufio.NewReader(io.LimitReader(c, 1<<20)).ReadString('\n')
	if err != nil {
		if u.Scheme == "nats" {
			return "", fmt.Errorf("no greeting: %w (with handshake_first: ask tls://)", err)
		}
		return "", fmt.Errorf("no greeting: %w", err)
	}
	if !strings.HasPrefix(line, greeting) {
		return "", errors.New("it is no NATS server")
	}
	return "ok", nil
}
