package config

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

func FuzzLoad(f *testing.F) {
	file, err := os.Open("testdata/keys.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	const every = 50
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan(); n++ {
		var c learnt
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			f.Fatal(err)
		}
		if n%every == 0 {
			f.Add(c.Text)
		}
	}
	f.Add("accounts { A { exports: [{service: a, latency: {subject: b}}], imports: [{stream: {account: B, subject: c}}] } }")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := load(text, false)
		if c == nil {
			t.Fatal("no Config")
		}
		again, err2 := load(text, false)
		if (err == nil) != (err2 == nil) || again.Digest != c.Digest || err != nil && err.Error() != err2.Error() {
			t.Fatalf("read twice, %v and %v", err, err2)
		}
	})
}
