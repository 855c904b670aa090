package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// natsd is the program under test.
var natsd string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "natsd-integration")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	natsd = filepath.Join(dir, "natsd.exe")
	build := exec.Command("go", "build", "-o", natsd, "github.com/natsd/natsd/cmd/natsd")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the program can't be built:", err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}
