package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/natsd/natsd/sim"
)

// simWorker carries out runs for a parent: it reads a seed per line and answers each with a line of JSON.
func simWorker(o *simFlags, in io.Reader, out io.Writer) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap of a run is small, and the other cores have runs of their own
	}
	lines := bufio.NewScanner(in)
	enc := json.NewEncoder(out)
	for lines.Scan() {
		seed, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			fmt.Fprintf(os.Stderr, "natsd sim: worker: %v\n", err)
			return 2
		}
		r := o.chosen(seed).carryOut(func(*sim.Options) {})
		if err := enc.Encode(&r); err != nil {
			return 1 // the parent is gone
		}
	}
	return 0
}

// workerProcess is a child that carries out runs, one after the other.
type workerProcess struct {
	o     *simFlags
	env   []string // added to the child's environment
	cmd   *exec.Cmd
	seeds io.WriteCloser
	lines *bufio.Reader
	tail  *tail
}

func (w *workerProcess) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w.cmd = exec.Command(self, "sim", "-worker", "-for", w.o.duration.String(), "-with", w.o.with)
	w.cmd.Env = append(os.Environ(), w.env...)
	w.tail = &tail{}
	w.cmd.Stderr = w.tail
	if w.seeds, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.lines = bufio.NewReaderSize(out, 1<<16)
	return w.cmd.Start()
}

// run lets the child carry out one run. A child that dies or hangs is a failure of the run; the next one gets another.
func (w *workerProcess) run(seed uint64) (simResult, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return simResult{}, fmt.Errorf("starting a worker: %w", err)
		}
	}
	began := time.Now()
	child := w.cmd.Process
	watchdog := time.AfterFunc(w.o.runTimeout, func() { child.Kill() })
	var r simResult
	_, err := fmt.Fprintln(w.seeds, seed)
	if err == nil {
		var line []byte
		if line, err = w.lines.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &r)
		}
	}
	hung := !watchdog.Stop()
	if err == nil && !hung {
		return r, nil
	}
	w.stop()
	r = simResult{Seed: seed, Wall: time.Since(began)}
	r.Failure = &sim.Failure{Property: "crash", What: "the simulator died: " + w.tail.String()}
	if hung {
		r.Failure = &sim.Failure{Property: "hang", What: fmt.Sprintf("no end after %v of wall time", w.o.runTimeout)}
	}
	return r, nil
}

// stop ends the child.
func (w *workerProcess) stop() {
	if w.cmd == nil {
		return
	}
	w.seeds.Close()
	w.cmd.Process.Kill()
	w.cmd.Wait() // its status says nothing: it was killed
	w.cmd = nil
}

// tail keeps the beginning of what a child wrote to its standard error: a panic's message, not its stacks.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	if room := 600 - len(t.b); room > 0 {
		t.b = append(t.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.b)) }
