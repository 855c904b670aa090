package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var rewriteConfigs = flag.Bool("rewrite-configs", false, "rewrite the outcomes in testdata/configs")

// Each testdata/configs/NAME.conf is a configuration such as operators write, and NAME.txt what clients do with a server
// that has it and what comes of that: testdata/configs/README.md describes both.
func TestOperatorsConfigurations(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/configs/*.txt")
	ok(t, err)
	if len(names) == 0 {
		t.Fatal("no configurations")
	}
	for _, name := range names {
		name = strings.TrimSuffix(filepath.Base(name), ".txt")
		t.Run(name, func(t *testing.T) {
			hosts(t, func(t *testing.T, w *world) { compareConfig(t, w, name) })
		})
	}
}

// compareConfig plays one with natsd, on a host, and where one is there with nats-server.
func compareConfig(t *testing.T, w *world, name string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata/configs", name+".txt"))
	ok(t, err)
	var flags []string
	if w.portable {
		flags = append(flags, "--portable")
	}
	got := playConfig(t, name, string(want), natsd, flags...)
	if *rewriteConfigs && !w.portable {
		ok(t, os.WriteFile(filepath.Join("testdata/configs", name+".txt"), []byte(got), 0o644))
	} else if !*rewriteConfigs && got != string(want) {
		t.Errorf("%s", differing(got, string(want)))
	}
	if *peer == "" || w.portable {
		return
	}
	theirs := playConfig(t, name, got, *peer)
	if ours := withoutExcused(got); ours != withoutExcused(theirs) {
		t.Errorf("nats-server (second) differs:\n%s", differing(ours, withoutExcused(theirs)))
	}
}

// playConfig starts a server with a configuration, does what the script's lines "> …" say, and returns the script with what
// came of each. Other lines are what came of them before; comments stay.
func playConfig(t *testing.T, name, script, binary string, flags ...string) string {
	t.Helper()
	ca := newAuthority(t)
	ca.server("server", "nats.example")
	p := &play{t: t, ca: ca, clients: map[string]*configClient{}}
	files, err := filepath.Glob("testdata/configs/*.conf")
	ok(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		ok(t, err)
		ok(t, os.WriteFile(filepath.Join(ca.dir, filepath.Base(f)), b, 0o600))
	}
	for line := range strings.Lines(script) {
		for _, m := range certNamed.FindAllStringSubmatch(line, -1) {
			p.cert(m[1])
		}
	}
	cmd := exec.Command(binary, append([]string{"-c", name + ".conf"}, flags...)...)
	cmd.Dir, cmd.Env = ca.dir, append(os.Environ(), "OPERATOR_PASSWORD=from$env", "REGION=eu")
	p.process = startProgram(t, cmd)
	for line := range strings.Lines(script) {
		switch step, is := strings.CutPrefix(line, "> "); {
		case is:
			p.out.WriteString(line)
			p.step(strings.TrimSpace(step))
			p.settle()
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			p.out.WriteString(line)
		}
	}
	for _, c := range p.clients {
		c.conn.Close()
	}
	return p.out.String()
}

var certNamed = regexp.MustCompile(`\bcert=(\w+)`)

// play is a script under way.
type play struct {
	t       *testing.T
	ca      *authority
	process *process
	clients map[string]*configClient
	certs   map[string]bool
	out     strings.Builder
}

// step does what one line says.
func (p *play) step(line string) {
	words := strings.Fields(line)
	switch words[0] {
	case "connect":
		p.connect(words[1], words[2:])
	case "get":
		p.get(words[1], words[2:])
	case "log":
		p.log()
	default:
		c := p.clients[words[0]]
		if c == nil {
			fmt.Fprintf(&p.out, "%s is not there\n", words[0])
			return
		}
		c.send(strings.TrimSpace(strings.TrimPrefix(line, words[0])))
	}
}

// get prints values of a monitoring page.
func (p *play) get(path string, keys []string) {
	r, err := http.Get(p.process.http + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	ok(p.t, err)
	fmt.Fprintf(&p.out, "%d", r.StatusCode)
	var page map[string]any
	if err := json.Unmarshal(b, &page); err != nil && len(keys) > 0 {
		p.t.Fatalf("%s: %v", b, err)
	}
	for _, k := range keys {
		v, err := json.Marshal(page[k])
		ok(p.t, err)
		fmt.Fprintf(&p.out, " %s=%s", k, v)
	}
	p.out.WriteString("\n")
}

var (
	logStart = regexp.MustCompile(`^\[\d+\] \S+ \S+ \[(ERR|WRN|FTL)\] `)
	logWho   = regexp.MustCompile(`127\.0\.0\.1:\d+ - cid:\d+`)
)

// plaintextWarning is what both say at start; it says nothing about what is compared here.
const plaintextWarning = "Plaintext passwords detected"

// log ends the server, so that its log is whole, and prints the problems in it.
func (p *play) log() {
	ok(p.t, p.process.stop())
	if runtime.GOOS != "windows" { // where it is killed
		receive(p.t, "the server to end", p.process.exit)
	}
	for _, c := range p.clients {
		c.conn.Close()
	}
	clear(p.clients)
	for line := range strings.Lines(p.process.stderr.String()) {
		if m := logStart.FindString(line); m != "" {
			line = logWho.ReplaceAllString(m[len(m)-len("[ERR] "):]+line[len(m):], "CLIENT")
			if !strings.Contains(line, plaintextWarning) {
				p.out.WriteString(line)
			}
		}
	}
}

// settle waits until all that was sent has come, and prints it by client.
func (p *play) settle() {
	names := make([]string, 0, len(p.clients))
	for name := range p.clients {
		names = append(names, name)
	}
	slices.Sort(names)
	for range 3 { // what one client's PING let through may reach another, and the answer to that a third
		for _, name := range names {
			p.clients[name].roundTrip()
		}
	}
	for _, name := range names {
		c := p.clients[name]
		lines := c.take()
		slices.Sort(lines) // a message for two subscriptions of one client comes in any order
		for _, line := range lines {
			fmt.Fprintf(&p.out, "%s < %s\n", name, line)
		}
		if c.ended() {
			fmt.Fprintf(&p.out, "%s is closed\n", name)
			delete(p.clients, name)
		}
	}
}

// differing shows the lines in which two texts differ.
func differing(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; ; i++ {
		if i == len(g) || i == len(w) || g[i] != w[i] {
			from := max(i-6, 0)
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1,
				strings.Join(g[min(from, len(g)):min(i+8, len(g))], "\n"), strings.Join(w[min(from, len(w)):min(i+8, len(w))], "\n"))
		}
	}
}

// withoutExcused leaves out what came of steps behind a comment "# differs: …".
func withoutExcused(text string) string {
	var b bytes.Buffer
	excused, next := false, false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "# differs"):
			next = true
		case strings.HasPrefix(line, "> "):
			excused, next = next, false
		}
		if !excused || strings.HasPrefix(line, "> ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// What -t says about each testdata/configs/mistakes-*.conf is in the golden file beside it.
func TestMistakesOfConfigurations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/configs/mistakes-*.conf")
	ok(t, err)
	for _, file := range files {
		golden := strings.TrimSuffix(file, "conf") + "golden"
		want, err := os.ReadFile(golden)
		if !*rewriteConfigs {
			ok(t, err)
		}
		cmd := exec.Command(natsd, "-t", "-c", filepath.Base(file))
		cmd.Dir = filepath.Dir(file)
		got, err := cmd.CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || failed.ExitCode() != 1 {
			t.Errorf("%s: %v", file, err)
		}
		got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
		if *rewriteConfigs {
			ok(t, os.WriteFile(golden, got, 0o644))
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}
