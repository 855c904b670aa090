package transcript

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Parse reads the scenarios of one file. The name goes into errors and scenarios; data is not kept.
func Parse(name string, data []byte) ([]Scenario, error) {
	p := parser{file: name}
	for i, line := range strings.Split(string(data), "\n") {
		p.line = i + 1
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.parseLine(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
		}
	}
	for i := range p.scenarios {
		if len(p.scenarios[i].Steps) == 0 {
			return nil, fmt.Errorf("%s:%d: scenario without steps", name, p.scenarios[i].Line)
		}
	}
	return p.scenarios, nil
}

type parser struct {
	file      string
	line      int
	scenarios []Scenario
	open      map[string]bool // connections of the scenario at hand
}

func (p *parser) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if word == "scenario" {
		if rest == "" {
			return errors.New("scenario needs a name")
		}
		p.scenarios = append(p.scenarios, Scenario{Name: rest, File: p.file, Line: p.line})
		p.open = map[string]bool{}
		return nil
	}
	if len(p.scenarios) == 0 {
		return errors.New("the first line has to be a scenario")
	}
	sc := &p.scenarios[len(p.scenarios)-1]
	switch word {
	case "config":
		return parseConfig(sc, rest)
	case "conf":
		sc.Conf += rest + "\n"
		return nil
	case "whole":
		sc.Whole = true
		return nil
	case "whole-for-peer":
		sc.WholeForPeer = true
		return nil
	}
	step := Step{Line: p.line}
	if only, found := dialects[word]; found {
		step.Only, line = only, rest
		word, rest, _ = strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
	}
	var err error
	switch word {
	case "conn", "dial", "refused":
		err = p.parseDial(&step, word, rest)
	case "advance":
		step.Op = OpAdvance
		step.Duration, err = time.ParseDuration(rest)
	case "signal":
		step.Op, step.Signal = OpSignal, rest
		if rest != "TERM" && rest != "INT" && rest != "USR2" {
			err = fmt.Errorf("signal %q is none of TERM, INT, USR2", rest)
		}
	case "exit":
		step.Op = OpExit
		step.Status, err = strconv.Atoi(rest)
	default:
		err = p.parseConnStep(&step, line)
	}
	if err != nil {
		return err
	}
	sc.Steps = append(sc.Steps, step)
	return nil
}

// dialects are the prefixes of steps that are about one server. Never written.
var dialects = map[string]Dialect{"natsd:": Natsd, "nats-server:": NatsServer}

func parseConfig(sc *Scenario, rest string) error {
	if len(sc.Steps) > 0 {
		return errors.New("config after the first step")
	}
	for _, field := range strings.Fields(rest) {
		key, value, found := strings.Cut(field, "=")
		if !found || key == "" || value == "" {
			return fmt.Errorf("config %q is not key=value", field)
		}
		sc.Config = append(sc.Config, Setting{key, value})
	}
	return nil
}

func (p *parser) parseDial(step *Step, word, rest string) error {
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return fmt.Errorf("%s NAME [window=BYTES]", word)
	}
	step.Conn = fields[0]
	if !isName(step.Conn) {
		return fmt.Errorf("%q is not a name for a connection", step.Conn)
	}
	switch word {
	case "conn":
		step.Op = OpConnect
	case "dial":
		step.Op = OpDial
	default:
		step.Op = OpRefused
		return nil
	}
	if p.open[step.Conn] {
		return fmt.Errorf("connection %s exists already", step.Conn)
	}
	p.open[step.Conn] = true
	if len(fields) == 2 {
		number, found := strings.CutPrefix(fields[1], "window=")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n <= 0 {
			return fmt.Errorf("%q is not window=BYTES", fields[1])
		}
		step.Window = n
	}
	return nil
}

// parseConnStep reads "A> …", "A< …", "A<~ …", "A closed" and their like.
func (p *parser) parseConnStep(step *Step, line string) error {
	end := 0
	for end < len(line) && isNameByte(line[end]) {
		end++
	}
	name := line[:end]
	if !p.open[name] {
		return fmt.Errorf("neither a directive nor a connection: %q", line)
	}
	step.Conn = name
	verb, rest, _ := strings.Cut(strings.TrimSpace(line[end:]), " ")
	var err error
	switch verb {
	case ">":
		step.Op = OpSend
		step.Data, err = parseBytes(rest)
	case "<":
		step.Op = OpExpect
		step.Data, err = parseBytes(rest)
	case "<~":
		step.Op = OpExpectLine
		step.Pattern, err = regexp.Compile(`(?s)^(?:` + strings.TrimSpace(rest) + `)$`)
	case "<all", "<one":
		step.Op = OpExpectAll
		if verb == "<one" {
			step.Op = OpExpectOne
		}
		step.Choices, err = parseChoices(rest)
	default:
		op, found := bareSteps[verb]
		if !found || rest != "" {
			return fmt.Errorf("unknown step %q", line)
		}
		step.Op = op
	}
	return err
}

// bareSteps are the steps of a connection that take no argument. Never written.
var bareSteps = map[string]Op{
	"?": OpRecord, "closed": OpClosed, "cut": OpCut, "silent": OpSilent, "half-close": OpHalfClose, "leave": OpLeave,
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}
