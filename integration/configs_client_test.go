package integration

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
)

// configClient is a client of a script: what the server sends becomes lines that are the same in every run.
type configClient struct {
	conn net.Conn
	mu   sync.Mutex
	cond *sync.Cond
	got  []string
	pong int
	gone bool
}

// infoShown are the fields of INFO that scripts show.
var infoShown = []string{"auth_required", "tls_required", "tls_verify", "tls_available", "max_payload", "headers", "server_name", "remote_account", "connect_urls"}

// connect is the step "connect NAME key=value …": tls, tls=first, cert=NAME (with tls) and nkey=SEED are for the connection,
// all else goes into CONNECT.
func (p *play) connect(name string, words []string) {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.process.addr, "tls://"), patience)
	ok(p.t, err)
	p.t.Cleanup(func() { conn.Close() })
	ok(p.t, conn.SetDeadline(time.Now().Add(patience)))
	options := map[string]any{"verbose": false, "pedantic": false, "headers": true, "no_responders": true, "protocol": 1}
	config, seed, first := (*tls.Config)(nil), "", false
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "tls":
			first = value == "first"
			if config == nil {
				config = p.ca.trust()
			}
		case "cert":
			cert, err := tls.LoadX509KeyPair(filepath.Join(p.ca.dir, value+".pem"), filepath.Join(p.ca.dir, value+".key"))
			ok(p.t, err)
			config = p.ca.trust(cert)
		case "nkey":
			seed = value
		default:
			if options[key] = value; value == "false" {
				options[key] = false
			}
		}
	}
	if config != nil {
		config.ServerName = "127.0.0.1"
	}
	c := &configClient{conn: conn}
	c.cond = sync.NewCond(&c.mu)
	p.clients[name] = c
	if config != nil && first {
		c.conn = tls.Client(conn, config)
	}
	info, err := readLine(c.conn)
	if err != nil {
		c.fail(err)
		return
	}
	var fields map[string]any
	ok(p.t, json.Unmarshal([]byte(strings.TrimPrefix(info, "INFO ")), &fields))
	c.got = append(c.got, showInfo(fields))
	if config != nil && !first {
		c.conn = tls.Client(conn, config)
	}
	if seed != "" {
		key, err := nkeys.FromSeed([]byte(seed))
		ok(p.t, err)
		nonce, _ := fields["nonce"].(string)
		sig, err := key.Sign([]byte(nonce))
		ok(p.t, err)
		if _, there := options["jwt"]; !there {
			options["nkey"], err = key.PublicKey()
			ok(p.t, err)
		}
		options["sig"] = base64.RawURLEncoding.EncodeToString(sig)
	}
	b, err := json.Marshal(options)
	ok(p.t, err)
	if _, err := fmt.Fprintf(c.conn, "CONNECT %s\r\n", b); err != nil {
		c.fail(err)
		return
	}
	go c.read()
}

// fail ends a client that could not be made.
func (c *configClient) fail(err error) {
	text := "EOF"
	if s := err.Error(); strings.Contains(s, "tls") || strings.Contains(s, "x509") {
		text = "TLS fails"
	}
	c.got = append(c.got, text)
	c.gone = true
	c.conn.Close()
}

// readLine reads a line byte by byte: what comes behind it may be TLS.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, one[0])
	}
}

func showInfo(fields map[string]any) string {
	s := "INFO"
	for _, k := range infoShown {
		v, there := fields[k]
		if text, _ := v.(string); k == "server_name" && text == fields["server_id"] {
			continue
		}
		if there {
			b, _ := json.Marshal(v) // it came as JSON
			s += fmt.Sprintf(" %s=%s", k, b)
		}
	}
	if _, there := fields["nonce"]; there {
		s += " nonce"
	}
	return s
}

// read turns what the server sends into lines, until it ends.
func (c *configClient) read() {
	r := bufio.NewReader(c.conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			c.end()
			return
		}
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		shown := line
		switch strings.ToUpper(verb) {
		case "PING":
			if _, err := io.WriteString(c.conn, "PONG\r\n"); err != nil {
				continue // the next read ends it
			}
			continue
		case "PONG":
			c.mu.Lock()
			c.pong++
			c.cond.Broadcast()
			c.mu.Unlock()
			continue
		case "INFO":
			var fields map[string]any
			if json.Unmarshal([]byte(rest), &fields) == nil {
				shown = showInfo(fields)
			}
		case "MSG", "HMSG":
			if shown, err = showMsg(r, verb, strings.Fields(rest)); err != nil {
				c.end()
				return
			}
		}
		c.mu.Lock()
		c.got = append(c.got, shown)
		c.mu.Unlock()
	}
}

func (c *configClient) end() {
	c.mu.Lock()
	c.gone = true
	c.cond.Broadcast()
	c.mu.Unlock()
	c.conn.Close()
}

var (
	ownReply = regexp.MustCompile(`_R_\.\w+\.\w+`)
	varying  = regexp.MustCompile(`"(rtt|start|id|server_id|name_tag|host|ver|system|service|requestor|time|client_id|connect_ip|kind|client_type|jwt|issuer_key|nonce)":("[^"]*"|[\d.]+),?`)
)

// showMsg reads a message's payload and shows all of it but sizes, and what differs from run to run.
func showMsg(r *bufio.Reader, verb string, args []string) (string, error) {
	size, err := strconv.Atoi(args[len(args)-1])
	if err != nil {
		return "", err
	}
	body := make([]byte, size+2)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", err
	}
	header, from := 0, len(args)-1
	if verb == "HMSG" {
		from--
		if header, err = strconv.Atoi(args[from]); err != nil {
			return "", err
		}
	}
	s := "MSG " + strings.Join(args[:from], " ")
	if header > 0 {
		s += " " + strconv.Quote(strings.TrimSpace(string(body[:header])))
	}
	s += " " + strconv.Quote(string(body[header:size]))
	s = strings.ReplaceAll(s, `\"`, `"`)
	return ownReply.ReplaceAllString(strings.ReplaceAll(varying.ReplaceAllString(s, ""), ",}", "}"), "_R_"), nil
}

// send sends a line; PUB and HPUB are "PUB subject [reply] | payload" and "HPUB subject [reply] | Key: value | payload".
func (c *configClient) send(line string) {
	parts := strings.Split(line, " | ")
	head := parts[0]
	switch verb, _, _ := strings.Cut(head, " "); verb {
	case "PUB":
		line = fmt.Sprintf("%s %d\r\n%s", head, len(parts[1]), parts[1])
	case "HPUB":
		header := "NATS/1.0\r\n" + strings.Join(parts[1:len(parts)-1], "\r\n") + "\r\n\r\n"
		payload := parts[len(parts)-1]
		line = fmt.Sprintf("%s %d %d\r\n%s%s", head, len(header), len(header)+len(payload), header, payload)
	case "BIG": // BIG subject size
		words := strings.Fields(head)
		n, _ := strconv.Atoi(words[2]) // of a test's own script
		line = fmt.Sprintf("PUB %s %d\r\n%s", words[1], n, strings.Repeat("x", n))
	}
	_, _ = io.WriteString(c.conn, line+"\r\n") // where the server has closed, the reader finds out
}

// roundTrip waits until all that the server had for the client is there.
func (c *configClient) roundTrip() {
	c.mu.Lock()
	want := c.pong + 1
	gone := c.gone
	c.mu.Unlock()
	if gone {
		return
	}
	_, _ = io.WriteString(c.conn, "PING\r\n")
	timer := time.AfterFunc(patience, c.end)
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pong < want && !c.gone {
		c.cond.Wait()
	}
}

func (c *configClient) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

func (c *configClient) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// cert issues a client's certificate.
func (p *play) cert(name string) {
	if p.certs[name] {
		return
	}
	if p.certs == nil {
		p.certs = map[string]bool{}
	}
	p.certs[name] = true
	p.ca.client(name)
}
