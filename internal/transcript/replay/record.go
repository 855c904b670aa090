package main

import (
	"bytes"
	"os"
	"strings"

	"github.com/natsd/natsd/internal/transcript"
)

// rewrite replaces the recorded lines of a file by expectations.
func rewrite(name string, old []byte, recordings [][]transcript.Recording) error {
	byLine := map[int]transcript.Recording{}
	for _, of := range recordings {
		for _, r := range of {
			byLine[r.Line] = r
		}
	}
	var text strings.Builder
	for i, line := range strings.SplitAfter(string(old), "\n") {
		if r, found := byLine[i+1]; found {
			text.WriteString(expectations(r))
			continue
		}
		text.WriteString(line)
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// expectations writes a recording as steps. INFO lines differ from server to server: only their presence is noted.
func expectations(r transcript.Recording) string {
	var text strings.Builder
	plain := []byte(nil)
	flush := func() {
		if len(plain) > 0 {
			text.WriteString(r.Conn + "< " + transcript.Quote(plain) + "\n")
		}
		plain = nil
	}
	for line := range bytes.Lines(r.Data) {
		if bytes.HasPrefix(line, []byte("INFO {")) {
			flush()
			text.WriteString(r.Conn + `<~ INFO \{.*\}\x20` + "\n")
			continue
		}
		plain = append(plain, line...)
	}
	flush()
	switch {
	case r.Ended:
		text.WriteString(r.Conn + " closed\n")
	case len(r.Data) == 0:
		text.WriteString(r.Conn + " silent\n")
	}
	return text.String()
}
