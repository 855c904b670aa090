package integration

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	peer    = flag.String("peer", "", "a nats-server `binary` to take the monitoring fields from")
	rewrite = flag.Bool("rewrite", false, "with -peer: write what testdata has of monitoring")
)

// pages are the monitoring pages whose fields are compared.
var pages = []string{
	"/varz", "/connz", "/connz?subs=1", "/connz?subs=detail&auth=1", "/connz?state=closed", "/connz?state=all&subs=true&auth=true",
	"/subsz", "/subsz?subs=1", "/subscriptionsz", "/healthz",
}

const fieldsFile = "testdata/monitoring.txt"

// TestMonitoringFields compares names and kinds of the fields of each page with those of nats-server 2.15.2, which
// testdata/monitoring.txt holds. A line is a mark, the path of a field and the kind of its value; the mark says who has
// it: "=" both, "+" natsd alone, "-" nats-server alone (so far).
func TestMonitoringFields(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		own := monitoringFields(t, start("-m", "-1", "--user", "ann", "--pass", "s3cret"))
		compareFields(t, fieldsFile, own, func() []string {
			return monitoringFields(t, startProgram(t, exec.Command(*peer, "-m", "-1", "--user", "ann", "--pass", "s3cret")))
		})
	})
}

// compareFields compares the fields that natsd has with a golden file, or that with what nats-server has now.
func compareFields(t *testing.T, file string, own []string, theirs func() []string) {
	t.Helper()
	if *peer != "" {
		fresh := marked(own, theirs())
		if *rewrite {
			ok(t, os.WriteFile(file, []byte(fresh), 0o644))
		}
		if b, err := os.ReadFile(file); err != nil || fresh != string(b) {
			t.Errorf("%s is not what natsd and %s have now: -rewrite writes it", file, *peer)
		}
	}
	b, err := os.ReadFile(file)
	ok(t, err)
	for _, line := range unexplained(string(b)) {
		t.Errorf("only one of the servers has this, and no reason is given: %s", line)
	}
	var want []string
	for line := range strings.Lines(string(b)) {
		if line[0] == '=' || line[0] == '+' {
			want = append(want, strings.TrimSpace(line[2:]))
		}
	}
	for _, f := range want {
		if !slices.Contains(own, f) {
			t.Errorf("natsd lacks %s", f)
		}
	}
	for _, f := range own {
		if !slices.Contains(want, f) {
			t.Errorf("natsd has %s, which is not in %s", f, file)
		}
	}
}

// marked says who has which fields.
func marked(own, theirs []string) string {
	all := map[string]bool{}
	for _, f := range slices.Concat(own, theirs) {
		all[f] = true
	}
	var b strings.Builder
	for _, f := range slices.Sorted(maps.Keys(all)) {
		mark := "="
		if !slices.Contains(theirs, f) {
			mark = "+"
		} else if !slices.Contains(own, f) {
			mark = "-"
		}
		fmt.Fprintf(&b, "%s %s\n", mark, f)
	}
	return b.String()
}

// monitoringFields has two clients do the same things at any server, one of them leave, and returns the fields of all pages.
func monitoringFields(t *testing.T, p *process) []string {
	t.Helper()
	client := func(name string) *rawClient {
		c := dialSilently(t, p.addr)
		c.expect("INFO {")
		c.send("CONNECT {\"verbose\":false,\"user\":\"ann\",\"pass\":\"s3cret\",\"name\":\"" + name + "\",\"lang\":\"go\",\"version\":\"1.2.3\"}\r\n")
		c.send(strings.ReplaceAll("SUB a.* 1\r\nSUB b.> q 2\r\nUNSUB 2 100\r\nPUB a.b 2\r\nhi\r\nPING\r\n", "a.", name+"."))
		c.mute = true
		return c
	}
	stays, leaves := client("stays"), client("leaves")
	for _, c := range []*rawClient{stays, leaves} {
		for pinged, ponged := false, false; !pinged || !ponged; { // pinged it is for the round trip time, after a while
			line, err := c.line()
			ok(t, err)
			pinged, ponged = pinged || line == "PING", ponged || line == "PONG"
		}
		c.send("PONG\r\n")
		c.ping()
	}
	ok(t, leaves.Close())
	until(t, "the server to have forgotten one", func() bool {
		return strings.Contains(fetch(t, p.http+"/connz?state=closed"), "Client Closed")
	})
	return pageFields(t, p, pages, "")
}

// pageFields are the fields of pages, each behind a prefix.
func pageFields(t *testing.T, p *process, pages []string, prefix string) []string {
	t.Helper()
	all := map[string]bool{}
	for _, page := range pages {
		var v any
		ok(t, json.Unmarshal([]byte(fetch(t, p.http+page)), &v))
		addFields(all, prefix+page, "", v)
	}
	return slices.Sorted(maps.Keys(all))
}

// addFields adds "page path kind" for everything in v.
func addFields(all map[string]bool, page, path string, v any) {
	kind := "number"
	switch v := v.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "bool"
	case []any:
		kind = "array"
		for _, e := range v {
			addFields(all, page, path+"[]", e)
		}
	case map[string]any:
		kind = "object"
		for name, e := range v {
			if path == ".http_req_stats" {
				continue // named after what was asked for
			}
			if strings.HasSuffix(path, ".responses") {
				name = "*" // named by chance
			}
			addFields(all, page, path+"."+name, e)
		}
	}
	if path != "" {
		all[page+" "+path+" "+kind] = true
	}
}

// fetch gets a page.
func fetch(t *testing.T, url string) string {
	t.Helper()
	status, body := get(t, url)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", url, status, body)
	}
	return body
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(url)
	ok(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	ok(t, err)
	return r.StatusCode, string(b)
}

func TestMonitoringParameters(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-m", "-1")
		for i := range 5 {
			c := dialSilently(t, p.addr)
			c.expect("INFO {")
			c.send(fmt.Sprintf("CONNECT {\"verbose\":false,\"name\":\"c%d\"}\r\n", i))
			for j := range i {
				c.send(fmt.Sprintf("SUB s.%d %d\r\n", j, j))
			}
			c.ping()
		}
		for _, c := range []struct {
			query string
			want  string // names of the connections, in order; or the status
		}{
			{"", "c0 c1 c2 c3 c4"}, {"?sort=subs", "c4 c3 c2 c1 c0"}, {"?sort=subs&limit=2", "c4 c3"},
			{"?limit=2&offset=3", "c3 c4"}, {"?offset=9", ""}, {"?limit=-1&offset=-5", "c0 c1 c2 c3 c4"},
			{"?offset=1&limit=9223372036854775807", "c1 c2 c3 c4"}, {"?offset=9223372036854775807&limit=9223372036854775807", ""},
			{"?cid=2", "c1"}, {"?cid=99", ""}, {"?state=closed", ""}, {"?state=ANY", "c0 c1 c2 c3 c4"},
			{"?sort=nonsense", "400"}, {"?sort=stop", "400"}, {"?state=closed&sort=stop", ""}, {"?state=ajar", "400"},
			{"?limit=x", "400"}, {"?cid=x", "400"}, {"?subs=x", "400"}, {"?auth=x", "400"}, {"?limit=99999999999999999999", "400"},
			{"?callback=f", "c0 c1 c2 c3 c4"}, {"?callback=alert(1)//", "c0 c1 c2 c3 c4"}, // plain JSON: there is no JSONP
		} {
			status, body := get(t, p.http+"/connz"+c.query)
			got := fmt.Sprint(status)
			if status == http.StatusOK {
				var page struct {
					Connections []struct{ Name string }
				}
				ok(t, json.Unmarshal([]byte(body), &page))
				var names []string
				for _, c := range page.Connections {
					names = append(names, c.Name)
				}
				got = strings.Join(names, " ")
			}
			if got != c.want {
				t.Errorf("/connz%s shows %q, want %q", c.query, got, c.want)
			}
		}
		for path, want := range map[string]int{
			"/subsz?subs=1": 200, "/subsz?test=s.1": 200, "/subsz?test=a..b": 400, "/subsz?test=*": 400, "/subsz?subs=detail": 400,
			"/": 200, "/varz/": 404, "/nothing": 404, "/healthz?js-enabled-only=true": 200,
		} {
			if status, body := get(t, p.http+path); status != want {
				t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
			}
		}
	})
}

// The monitoring port stands what a browser would not send, and slow peers cost it nothing that lasts.
func TestMonitoringIsRobust(t *testing.T) {
	programs(t, func(t *testing.T, start func(...string) *process) {
		p := start("-m", "-1")
		addr := strings.TrimPrefix(p.http, "http://")
		for name, request := range map[string]string{
			"huge header":  "GET /varz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("h", 1<<20) + "\r\n\r\n",
			"many headers": "GET /varz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n",
			"huge path":    "GET /" + strings.Repeat("v", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n",
			"no host":      "GET /varz HTTP/1.1\r\n\r\n",
			"garbage":      "\x00\x01\x02\xff\r\n\r\n",
			"protocol":     "CONNECT {}\r\nPING\r\n\r\n",
		} {
			nc, err := net.Dial("tcp", addr)
			ok(t, err)
			_, _ = io.WriteString(nc, request) // it may answer before it has heard all
			ok(t, nc.SetReadDeadline(time.Now().Add(patience)))
			line, err := bufio.NewReader(nc).ReadString('\n')
			if err == nil && !strings.Contains(line, " 4") {
				t.Errorf("%s: answered with %q", name, line)
			}
			nc.Close()
		}
		var dribblers []net.Conn
		for range 50 {
			nc, err := net.Dial("tcp", addr)
			ok(t, err)
			_, err = io.WriteString(nc, "GET /varz HT")
			ok(t, err)
			dribblers = append(dribblers, nc)
		}
		fetch(t, p.http+"/varz")
		for _, nc := range dribblers { // they are thrown out after a few seconds
			ok(t, nc.SetReadDeadline(time.Now().Add(patience)))
			if _, err := io.Copy(io.Discard, nc); os.IsTimeout(err) {
				t.Error("a request that never ends is waited for")
			}
			nc.Close()
		}
		if strings.Contains(p.stderr.String(), "http:") {
			t.Errorf("bad requests fill the log:\n%s", p.stderr)
		}
	})
}
