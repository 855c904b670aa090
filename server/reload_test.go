package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/natsd/natsd/host"
)

// reloads is a server whose file a test rewrites.
type reloads struct {
	*Server
	t    *testing.T
	file string
	log  *lines
}

func startReloads(t *testing.T, text string, tune func(*host.Options)) *reloads {
	t.Helper()
	r := &reloads{t: t, file: written(t, listens+text), log: &lines{}}
	v, err := Start(Options{ConfigFile: r.file, Log: r.log, Tune: tune})
	if err != nil {
		t.Fatal(err)
	}
	r.Server = v
	t.Cleanup(v.Stop)
	r.log.take()
	return r
}

const listens = "port: -1\nhost: 127.0.0.1\n"

// to has the server read another file, and returns what it logs about that, and whether it was taken over.
func (r *reloads) to(text string) (log string, took bool) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(listens+text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	took = r.Reload() == nil
	log = strings.Join(r.log.take(), "\n")
	if took != strings.Contains(log, "Reloaded server configuration") {
		r.t.Errorf("taken over: %v, and the log says\n%s", took, log)
	}
	return log, took
}

func (r *reloads) expect(text string, lines ...string) {
	r.t.Helper()
	log, took := r.to(text)
	lines = append(lines, "Reloaded server configuration (")
	if got := strings.Split(log, "\n"); !took || len(got) != len(lines) {
		r.t.Errorf("%q: log\n%s", text, log)
	}
	for _, l := range lines {
		if !strings.Contains(log, l) {
			r.t.Errorf("%q: no %q in\n%s", text, l, log)
		}
	}
}

// The files that tell others about the server move with a reload, whole or not at all.
func TestFilesMove(t *testing.T) {
	dir := t.TempDir()
	in := func(d string) string { return filepath.Join(dir, d) }
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(in(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	there := func(want ...string) {
		t.Helper()
		var got []string
		for _, d := range []string{"a", "b"} {
			names, err := os.ReadDir(in(d))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				got = append(got, d+"/"+strings.ReplaceAll(n.Name(), fmt.Sprint(os.Getpid()), "PID"))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	text := func(pid, ports string) string {
		return fmt.Sprintf("pid_file: %q\nports_file_dir: %q\n", in(pid), in(ports))
	}
	r := startReloads(t, "", nil)
	there()
	r.expect(text("a/pid", "a"), "Reloaded: pid_file = "+in("a/pid"), "Reloaded: ports_file_dir = "+in("a"))
	ports := "a/" + programName() + "_PID.ports"
	there("a/pid", ports)
	if got, want := content(t, strings.ReplaceAll(in(ports), "PID", fmt.Sprint(os.Getpid()))), `{"nats":["nats://`+r.Addr()+`"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.expect(text("b/pid", "a"), "Reloaded: pid_file = ")
	there(ports, "b/pid")
	for _, bad := range []string{text("a/pid", "gone"), text("gone/pid", "b"), text("a/pid", "b") + "tls { cert_file: x, key_file: y }"} {
		if log, took := r.to(bad); took {
			t.Errorf("%q:\n%s", bad, log)
		}
		there(ports, "b/pid")
	}
	r.expect(text("b/pid", "b"), "Reloaded: ports_file_dir = ")
	there("b/pid", "b/"+programName()+"_PID.ports")
	r.expect("", "Reloaded: pid_file", "Reloaded: ports_file_dir")
	there()
	r.expect(text("a/pid", "a"), "Reloaded: pid_file", "Reloaded: ports_file_dir")
	r.Stop()
	there()
	if log, took := r.to(text("b/pid", "b")); took || !strings.Contains(log, "the server has ended") {
		t.Error(log)
	}
	there()
}

// A file that a reload names in another way is there before and after, whether the reload succeeds or not.
func TestFilesGetOtherNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	text := func(d string) string {
		return fmt.Sprintf("pid_file: %q\nports_file_dir: %q\n", dir+"/"+d+"/pid", dir+"/"+d)
	}
	r := startReloads(t, text("a"), nil)
	there := func() {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(dir, "a"))
		if err != nil || len(entries) != 2 {
			t.Errorf("there: %v, %v", entries, err)
		}
	}
	there()
	r.expect(text("b"), "Reloaded: pid_file = ", "Reloaded: ports_file_dir = ")
	there()
	if log, took := r.to(text("a") + "tls { cert_file: x, key_file: y }"); took {
		t.Error(log)
	}
	there()
	r.expect(text("a"), "Reloaded: pid_file = ", "Reloaded: ports_file_dir = ")
	there()
	r.Stop()
	if entries, err := os.ReadDir(filepath.Join(dir, "a")); err != nil || len(entries) != 0 {
		t.Errorf("there at the end: %v, %v", entries, err)
	}
}

func TestBlockProfilesFollowAReload(t *testing.T) {
	r := startReloads(t, "", nil)
	r.expect("prof_block_rate: 1000000000", "Block profiling is enabled (rate 1000000000)", "Reloaded: prof_block_rate = 1000000000")
	r.expect("", "Reloaded: prof_block_rate = 0")
}

// What the log is told of is what counts, from the first reload on: with what Options.Tune says of it.
func TestFirstReloadIsNamed(t *testing.T) {
	tuned := startReloads(t, "debug: true", func(o *host.Options) { o.Engine.Debug, o.Engine.PingMax = false, 7 })
	tuned.expect("logtime: false\nlogfile_size_limit: 5\nping_max: 8", "Reloaded: logtime = false", "Reloaded: log_size_limit = 5")
	tuned.expect("", "Reloaded: logtime = true", "Reloaded: log_size_limit = 0")
}

// Certificates and authorities that were renewed in their files are named.
func TestRenewedFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	ca := newAuthority(t)
	write := func(n string, text []byte) {
		t.Helper()
		if err := os.WriteFile(name(n), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := ca.issue()
	write("cert", cert)
	write("key", key)
	write("ca", ca.pem)
	block := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", name("cert"), name("key"), name("ca"))
	r := startReloads(t, block, nil)
	r.expect(block)
	write("ca", append(newAuthority(t).pem, ca.pem...))
	r.expect(block, "Reloaded: tls: content of "+name("ca"))
	cert, key = ca.issue() // with the same end
	write("cert", cert)
	write("key", key)
	r.expect(block+"max_payload: 1000", "Reloaded: max_payload = 1000", "Reloaded: tls: content of "+name("cert"), "Reloaded: tls: content of "+name("key"))
	r.expect(block + "max_payload: 1000")
}
