package host

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/engine"
)

// monitoredAt starts a server with monitoring below a base path, and a client with a subscription.
func monitoredAt(t *testing.T, base string) (s *Server, url string) {
	t.Helper()
	s, err := New(Options{Engine: engine.Options{Host: "127.0.0.1", Port: -1, ServerName: "glance"}, Log: nothing{}})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run()
	<-s.Ready()
	m, err := s.Monitor(MonitorOptions{Addr: "127.0.0.1:0", BasePath: base})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		m.Close()
		s.Stop()
		<-s.Done()
	})
	if _, err := io.WriteString(c, "CONNECT {\"verbose\":true}\r\nSUB <b>&.x 1\r\nPUB <b>&.x 2\r\nhi\r\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	for text := ""; !strings.Contains(text, "hi\r\n"); {
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b[:n])
	}
	return s, fmt.Sprintf("http://127.0.0.1:%d/", m.Port())
}

var links = regexp.MustCompile(`(?:href|src)="([^"]*)"|fetch\("([^"]*)"\)|url\(([^)]*)\)`)

// Every link of the page, and all that it asks for, is answered, with a base path too, and nothing is asked for elsewhere.
func TestIndexPage(t *testing.T) {
	for base, at := range map[string]string{
		"": "", "/nats": "/nats", "a/b/": "/a/b", "/a b": "/a%20b", "/{": "/%7b", "GET /x": "/GET%20/x", "/a/{x...}": "/a/%7Bx...%7D", "/{$}": "/{$}",
		"/a%20b": "/a%20b", "/%zz": "/%25zz", "/..": "", "//": "", "a.com/x": "/a.com/x", "/a?b": "/a%3fb",
	} {
		_, url := monitoredAt(t, base)
		url = url + strings.TrimPrefix(at+"/", "/")
		get := func(url string) (int, string) {
			r, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return r.StatusCode, string(b)
		}
		status, page := get(url)
		if status != http.StatusOK || page != indexPage {
			t.Fatalf("%s: %d", url, status)
		}
		if status, page := get(strings.TrimSuffix(url, "/")); status != http.StatusOK || page != indexPage {
			t.Errorf("without the slash: %d", status)
		}
		asked := 0
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			link := m[1] + m[2] + m[3]
			rest, relative := strings.CutPrefix(link, "./")
			if !relative {
				t.Errorf("a link to elsewhere: %s", link)
				continue
			}
			asked++
			want := http.StatusOK
			if rest == "raftz" {
				want = http.StatusNotFound // there is no such group, as nats-server says
			}
			if status, body := get(url + rest); status != want {
				t.Errorf("%s: %d %s", link, status, body)
			}
		}
		if asked < 15 || strings.Contains(page, "//") && strings.Contains(page, "http") {
			t.Errorf("%d links", asked)
		}
	}
}

// browser finds a headless Chromium; empty: there is none.
func browser() string {
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"}
	if own := os.Getenv("NATSD_BROWSER"); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A browser draws the page: with what the server says, light and dark.
func TestIndexPageInABrowser(t *testing.T) {
	path := browser()
	if path == "" {
		t.Skip("there is no Chromium here to draw the page (NATSD_BROWSER names one)")
	}
	_, url := monitoredAt(t, "/deep/path")
	url += "deep/path/"
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + t.TempDir(),
			"--virtual-time-budget=5000", "--window-size=1000,900"}, append(args, url)...)...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, errs.String())
		}
		return string(out)
	}
	page := run("--dump-dom")
	for _, want := range []string{
		`<h1 id="name">glance</h1>`, `class="good">healthy</span>`, "<title>glance – natsd</title>",
		"<dt>Connections</dt><dd>1</dd>", "<dt>Subscriptions</dt><dd>1</dd>", "<dt>Slow consumers</dt><dd>0</dd>",
		"<tr><td>$G</td><td>1</td><td>1</td>", "<dt>Messages in</dt><dd>0/s</dd>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	var brightness [2]uint32
	for scheme, name := range []string{"dark", "light"} {
		file := filepath.Join(t.TempDir(), name+".png")
		run("--screenshot="+file, fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme))
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		picture, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		brightness[scheme], _, _, _ = picture.At(3, 3).RGBA()
	}
	if brightness[0] > 0x4000 || brightness[1] < 0xc000 {
		t.Errorf("dark is %x, light is %x", brightness[0], brightness[1])
	}
}
