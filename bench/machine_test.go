package main

import "testing"

func TestCPUModel(t *testing.T) {
	got, found := cpuModel("processor\t: 0\nmodel\t\t: 6\nmodel name\t: Some CPU @ 3 GHz\nflags: a b\n")
	if !found || got != "Some CPU @ 3 GHz" {
		t.Errorf("cpuModel = %q, %t", got, found)
	}
	if _, found := cpuModel("processor: 0\n"); found {
		t.Error("a model out of nowhere")
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine([]byte("natsd 1\nnats-server: v2\r\n")); got != "natsd 1; nats-server: v2" {
		t.Errorf("oneLine = %q", got)
	}
}
