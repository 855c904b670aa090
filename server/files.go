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

// writeFiles writes the pid file and the ports file and returns those that exist now.
// A port that is 0 is not open.
func writeFiles(s *settings, clientPort, monitorPort, profPort int) (written []string, err error) {
	if s.pidFile != "" {
		if err := writeWhole(s.pidFile, ownPID(), 0o600); err != nil {
			return written, fmt.Errorf("the pid file can't be written: %w", err)
		}
		written = append(written, s.pidFile)
	}
	if s.portsDir != "" {
		name := filepath.Join(s.portsDir, fmt.Sprintf("%s_%d.ports", programName(), os.Getpid()))
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
		ports, err := json.Marshal(urls)
		if err != nil {
			return written, err
		}
		if err := writeWhole(name, ports, 0o640); err != nil {
			return written, fmt.Errorf("the ports file can't be written: %w", err)
		}
		written = append(written, name)
	}
	return written, nil
}

// removeFiles removes what writeFiles wrote. A pid file that another server has made its own meanwhile stays.
func (s *settings) removeFiles(written []string) {
	for _, name := range written {
		if name == s.pidFile {
			if b, err := os.ReadFile(name); err == nil && !bytes.Equal(b, ownPID()) {
				continue
			}
		}
		os.Remove(name)
	}
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
