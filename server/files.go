package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// files are the names of those that tell others about the server, and that are there; empty: it is not.
type files struct{ pid, ports string }

// filesOf are those that the settings ask for.
func filesOf(s *settings) (f files) {
	f.pid = s.pidFile
	if s.portsDir != "" {
		f.ports = filepath.Join(s.portsDir, fmt.Sprintf("%s_%d.ports", programName(), os.Getpid()))
	}
	return f
}

// without are those of f that are not among others, by whatever name.
func (f files) without(others files) files {
	if sameFile(f.pid, others.pid) {
		f.pid = ""
	}
	if sameFile(f.ports, others.ports) {
		f.ports = ""
	}
	return f
}

// sameFile reports whether both names lead to one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// write writes all of them, or none. ports is what the ports file says.
func (f files) write(ports []byte) error {
	if f.pid != "" {
		if err := writeWhole(f.pid, ownPID(), 0o600); err != nil {
			return fmt.Errorf("the pid file can't be written: %w", err)
		}
	}
	if f.ports != "" {
		if err := writeWhole(f.ports, ports, 0o640); err != nil {
			files{pid: f.pid}.remove()
			return fmt.Errorf("the ports file can't be written: %w", err)
		}
	}
	return nil
}

// remove removes them. A pid file that another server has made its own meanwhile stays.
func (f files) remove() {
	if f.ports != "" {
		os.Remove(f.ports)
	}
	if b, err := os.ReadFile(f.pid); f.pid != "" && (err != nil || bytes.Equal(b, ownPID())) {
		os.Remove(f.pid)
	}
}

// portsText is what a ports file says: by which URLs the server is reached. A port that is 0 is not open.
func portsText(s *settings, clientPort, monitorPort, profPort int) []byte {
	scheme := "nats"
	if s.engine.TLS.On {
		scheme = "tls"
	}
	urls := map[string][]string{"nats": reachable(scheme, s.engine.Host, clientPort)}
	if monitorPort > 0 {
		urls["monitoring"] = reachable(s.monitorScheme(), s.monitorHost(), monitorPort)
	}
	if profPort > 0 {
		urls["profile"] = reachable("http", s.engine.Host, profPort)
	}
	text, _ := json.Marshal(urls) // lists of strings always can be
	return text
}

func ownPID() []byte { return strconv.AppendInt(nil, int64(os.Getpid()), 10) }

// writeWhole writes a file that others wait for: it appears with all of its content. Where the directory takes no other
// name, or the name is no plain file, it is written in place.
func writeWhole(name string, content []byte, mode os.FileMode) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, content, mode)
	}
	partial := name + ".new"
	if err := os.WriteFile(partial, content, mode); err != nil {
		os.Remove(partial)
		return os.WriteFile(name, content, mode)
	}
	if err := os.Rename(partial, name); err != nil {
		os.Remove(partial)
		return err
	}
	return nil
}

// reachable lists how a port is reached: for a wildcard address, by every address of this machine.
func reachable(scheme, addr string, port int) []string {
	url := func(host string) string { return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) }
	if ip := net.ParseIP(addr); addr != "" && (ip == nil || !ip.IsUnspecified()) {
		return []string{url(addr)}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return []string{url("127.0.0.1")}
	}
	var urls []string
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			urls = append(urls, url(n.IP.String()))
		}
	}
	return urls
}
