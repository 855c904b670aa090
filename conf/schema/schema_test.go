package schema

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/conf"
)

type sample struct {
	Name string
	Size int64
	Wait time.Duration
	Tags []string
	In   struct{ On bool }
}

func sampleKeys() []Key[sample] {
	return []Key[sample]{
		On("name", Text(func(s *sample) *string { return &s.Name }), "title"),
		On("size", Size(func(s *sample) *int64 { return &s.Size }, true)),
		On("wait", Duration(func(s *sample) *time.Duration { return &s.Wait })),
		On("tags", List(func(s *sample) *[]string { return &s.Tags })),
		On("inner", Block(func(s *sample) *struct{ On bool } { return &s.In }, "inner", func() []Key[struct{ On bool }] {
			return []Key[struct{ On bool }]{On("on", Switch(func(i *struct{ On bool }) *bool { return &i.On }))}
		})),
	}
}

func read(text string) (*sample, *Decoder) {
	r := &conf.Reader{
		Read: func(string) ([]byte, error) { return []byte(text), nil },
		Join: func(_, name string) string { return name },
		Env:  func(string) (string, bool) { return "", false },
	}
	d := NewDecoder(&conf.Report{})
	to := &sample{}
	m := r.Parse("f", d.Report)
	Read(d, m, "", sampleKeys(), to)
	return to, d
}

func TestBlocksAreReadByTheirKeys(t *testing.T) {
	s, d := read("Title: a\nsize: \"2K\"\nwait: 1m30s\ntags: x\ninner { ON: yes }")
	if err := d.Report.Err(); err != nil {
		t.Fatal(err)
	}
	if s.Name != "a" || s.Size != 2048 || s.Wait != 90*time.Second || len(s.Tags) != 1 || !s.In.On {
		t.Errorf("%+v", s)
	}
	if at := d.Places()["inner.on"]; at.String() != "f:5:9" {
		t.Errorf("inner.on is at %v", at)
	}
	if _, there := d.Places()["name"]; !there {
		t.Error("a synonym has no place under the first name")
	}
}

func TestTheLastOfTwoNamesCounts(t *testing.T) {
	s, d := read("name: a\ntitle: b")
	if s.Name != "b" || len(d.Report.Warnings) != 1 || !strings.Contains(d.Report.Warnings[0].Error(), `"title" sets what "name" at f:1:1 has set`) {
		t.Errorf("%+v, %v", s, d.Report.Warnings)
	}
}

func TestDurationsWithoutAUnitAreDoubted(t *testing.T) {
	s, d := read("wait: 5")
	if s.Wait != 5*time.Second || d.Report.Err() != nil || len(d.Report.Warnings) != 1 || !d.Report.Warnings[0].Doubt {
		t.Errorf("%+v, %v, %v", s, d.Report.Err(), d.Report.Warnings)
	}
}

func TestMissingVariablesAreReportedOnce(t *testing.T) {
	_, d := read("name: $NOPE")
	var all interface{ Error() string }
	if err := d.Report.Err(); !errors.As(err, &all) || strings.Count(err.Error(), "\n") != 0 {
		t.Errorf("%v", err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"port", "host", "max_payload", "max_pending", "authorization", "accounts", "tls"}
	for _, c := range []struct{ word, want string }{
		{"prot", "port"}, {"max_paylod", "max_payload"}, {"max_pyaload", "max_payload"}, {"account", "accounts"},
		{"authorisation", "authorization"}, {"zzzzzz", ""}, {"x", ""}, {"tsl", "tls"}, {"", ""}, {"auth", "authorization"},
	} {
		if got := Nearest(c.word, known); got != c.want {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
}
