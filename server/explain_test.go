package server

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// Each question in testdata/explain.txt is a line "$ user subject [queue]", with the answer below it.
func TestExplanations(t *testing.T) {
	const golden = "testdata/explain.txt"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		question, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		got.WriteString(line)
		s, err := parseFlags(append([]string{"-t", "-c", "testdata/explain.conf", "--explain"}, strings.Fields(question)...))
		if err == nil {
			err = s.explainTo(&got)
		}
		if err != nil {
			got.WriteString(err.Error() + "\n")
		}
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(text) {
		t.Errorf("got\n%s\nwant\n%s", &got, text)
	}
}

func TestExplainArguments(t *testing.T) {
	for _, args := range []string{
		"--explain alice orders.new", "-t --explain alice", "-t --explain alice a b c", "-t alice orders.new", "-t --explain",
	} {
		if _, err := parseFlags(append([]string{"-c", "testdata/explain.conf"}, strings.Fields(args)...)); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	if s, err := parseFlags(strings.Fields("-t --explain nobody foo")); err != nil || s.asked[0] != "foo" {
		t.Errorf("without a configuration file: %v", err)
	}
}
