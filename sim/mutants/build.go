package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// findRoot is the directory of the main module, above the working directory.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "sim", "mutants", "testdata")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("not inside natsd's repository")
		}
		dir = up
	}
}

// build builds natsd with some files replaced, and returns the path of the program.
func build(root, tmp, name string, edited map[string]string) (string, error) {
	dir := filepath.Join(tmp, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	n := 0
	for file, text := range edited {
		n++
		to := filepath.Join(dir, fmt.Sprintf("%d.go", n))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = to
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	listFile, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "natsd")
	if err := os.WriteFile(listFile, list, 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-overlay", listFile, "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/natsd")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}
