package conf

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path"
	"testing"
)

// learnt is a case of testdata/language.jsonl.
type learnt struct {
	Text      string
	Env       map[string]string
	Files     map[string]string
	Reference string // a digest, "read" or "refused"
	Natsd     string // what natsd says where it differs on purpose
}

func (c *learnt) reader() *Reader {
	return &Reader{
		Read: func(name string) ([]byte, error) {
			if name == "t.conf" {
				return []byte(c.Text), nil
			}
			if text, ok := c.Files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("no such file")
		},
		Join: func(from, name string) string { return path.Join(path.Dir(from), name) },
		Env:  func(name string) (string, bool) { v, ok := c.Env[name]; return v, ok },
	}
}

func TestReadsWhatTheReferenceReads(t *testing.T) {
	f, err := os.Open("testdata/language.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var c learnt
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		want := c.Reference
		if c.Natsd != "" {
			want = c.Natsd
		}
		var rep Report
		m := c.reader().Parse("t.conf", &rep)
		got := Digest(m)
		if rep.Err() != nil || len(rep.Warnings) > 0 && rep.Warnings[0].Doubt {
			got = "refused" // what was learnt is what -t says
		} else if want == "read" {
			got = "read"
		}
		if got != want {
			t.Errorf("%q with %v\n got %s, %v\nwant %s", c.Text, c.Env, got, rep.Err(), want)
		}
		n++
	}
	if n < 1000 {
		t.Errorf("only %d cases", n)
	}
}
