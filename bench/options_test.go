package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"
)

func TestOptionsDefaults(t *testing.T) {
	o, err := parseOptions([]string{"-server", "natsd"}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if o.server != "natsd" || o.peer != "" || o.pairs < pairsMin || o.duration != time.Second || o.check || o.strict {
		t.Errorf("options = %+v", o)
	}
	if !o.only.MatchString("anything") {
		t.Error("without -scenario not every scenario runs")
	}
}

func TestOptionsStrictImpliesCheck(t *testing.T) {
	o, err := parseOptions([]string{"-server", "a", "-strict"}, &bytes.Buffer{})
	if err != nil || !o.check {
		t.Errorf("check = %t, %v", o.check, err)
	}
}

func TestOptionsAreRefused(t *testing.T) {
	cases := []struct {
		args string
		want string
	}{
		{"", "-server is missing"},
		{"-peer x", "-server is missing"},
		{"-server a extra", `unexpected argument "extra"`},
		{"-server a -pairs 0", "-pairs"},
		{"-server a -duration 0s", "-duration"},
		{"-server a -warmup -1s", "-warmup"},
		{"-server a -window 0", "-window"},
		{"-server a -window 64", "-window"},
		{"-server a -scenario (", "-scenario"},
		{"-server a -ceiling", "-ceiling"},
		{"-server a -nonsense", "nonsense"},
	}
	for _, c := range cases {
		_, err := parseOptions(strings.Fields(c.args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := parseOptions([]string{"-h"}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
