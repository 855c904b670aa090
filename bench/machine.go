package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine says where the figures come from.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// thisMachine describes the machine the generator runs on.
func thisMachine() machine {
	m := machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), Kernel: runtime.GOOS, Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if model, found := cpuModel(string(text)); found {
			m.CPU = model
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		// What follows the version names a vendor's build.
		version, _, _ := strings.Cut(strings.TrimSpace(string(text)), "-")
		m.Kernel = "Linux " + version
	}
	return m
}

// cpuModel finds the model's name in the text of /proc/cpuinfo.
func cpuModel(text string) (string, bool) {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// serverInfo says which server was measured.
type serverInfo struct {
	Name    string `json:"name"`    // of the binary
	Version string `json:"version"` // as it says itself, on one line
	Go      string `json:"go"`      // it was built with
}

func (s serverInfo) String() string {
	return fmt.Sprintf("%s (%s, built with %s)", s.Name, s.Version, s.Go)
}

// inspectLimit is how long a binary may take to tell its version.
const inspectLimit = 5 * time.Second

// inspect asks a server binary what it is.
func inspect(path string) (serverInfo, error) {
	if _, err := exec.LookPath(path); err != nil {
		return serverInfo{}, err
	}
	info := serverInfo{Name: filepath.Base(path), Version: "version unknown", Go: "unknown"}
	// A binary that does not know -v may as well serve for ever.
	ctx, cancel := context.WithTimeout(context.Background(), inspectLimit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, path, "-v").Output(); err == nil {
		info.Version = oneLine(out)
	}
	if build, err := buildinfo.ReadFile(path); err == nil {
		info.Go = build.GoVersion
	}
	return info, nil
}

// oneLine joins the lines of a text.
func oneLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for i := range lines {
		lines[i] = bytes.TrimSpace(lines[i])
	}
	return string(bytes.Join(lines, []byte("; ")))
}
