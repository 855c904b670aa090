package decision

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Log is a decision log as it is kept in a file: the choices of a run and where they come from.
//
// The text has one line per item. Its first line names the format. Lines of the header follow, each a name and a value:
// seed, for, commit, hash, property, note. Then comes one line per choice:
//
//	sim.operation client:3 purpose=2 n=17 value=4 of=12
//
// Empty lines and lines that begin with "#" mean nothing.
type Log struct {
	Seed     uint64        // of the run that the log was first made of
	For      time.Duration // simulated time in which things happen
	Commit   string        // of natsd then; empty: not known
	Hash     string        // trace hash of the run, 16 hexadecimal digits; empty: not known
	Property string        // that the run is expected to break; empty: none
	Note     string        // what the log is kept for, one line
	Records  []Record
	Unknown  []UnknownLine // choices of kinds that there are no longer
}

// UnknownLine is a line of a log whose choice cannot be made: no such kind or actor exists. It is drift.
type UnknownLine struct {
	Number int // from 1
	Text   string
	Why    string
}

// String says which line is meant.
func (u UnknownLine) String() string { return fmt.Sprintf("line %d: %s: %s", u.Number, u.Text, u.Why) }

// logFormat is the first line of every log. The number changes when old readers would misread new logs.
const logFormat = "natsd decision log 1"

var classNames = [nClasses]string{World: "world", Node: "node", Client: "client", Link: "link", Disk: "disk"}

// String is the class's name in logs.
func (c Class) String() string {
	if c >= nClasses {
		return "class" + strconv.Itoa(int(c))
	}
	return classNames[c]
}

// String is the actor's name in logs, "client:3".
func (a Actor) String() string { return a.Class().String() + ":" + strconv.FormatUint(a.Index(), 10) }

// String is the choice as a log has it.
func (r Record) String() string { return string(r.appendTo(nil)) }

func (r Record) appendTo(b []byte) []byte {
	b = append(b, r.Kind.String()...)
	b = append(b, ' ')
	b = append(b, r.Actor.String()...)
	b = strconv.AppendUint(append(b, " purpose="...), uint64(r.Purpose), 10)
	b = strconv.AppendUint(append(b, " n="...), r.N, 10)
	b = strconv.AppendUint(append(b, " value="...), r.Value, 10)
	return strconv.AppendUint(append(b, " of="...), r.Range, 10)
}

// String is the drift in words.
func (d Drift) String() string { return d.Record.String() + ": " + d.Why }

// AppendText appends the text of the log to b.
func (l *Log) AppendText(b []byte) []byte {
	b = append(append(b, logFormat...), '\n')
	head := func(name, value string) {
		if value != "" {
			b = append(append(append(append(b, name...), ' '), value...), '\n')
		}
	}
	head("seed", strconv.FormatUint(l.Seed, 10))
	head("for", l.For.String())
	head("commit", l.Commit)
	head("hash", l.Hash)
	head("property", l.Property)
	head("note", l.Note)
	b = append(b, '\n')
	for _, r := range l.Records {
		b = append(r.appendTo(b), '\n')
	}
	for _, u := range l.Unknown {
		b = append(append(b, u.Text...), '\n')
	}
	return b
}

// ParseLog reads the text of a log. Errors name the line. A choice of an unknown kind is no error: it is in Unknown.
func ParseLog(text []byte) (*Log, error) {
	l := &Log{}
	number := 0
	seen := make(map[Key]int)
	for len(text) > 0 {
		number++
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		s := strings.TrimSpace(string(line))
		if number == 1 {
			if s != logFormat {
				return nil, fmt.Errorf("line 1: not %q", logFormat)
			}
			continue
		}
		if s == "" || s[0] == '#' {
			continue
		}
		if err := l.parseLine(s, number, seen); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if number == 0 {
		return nil, fmt.Errorf("line 1: not %q", logFormat)
	}
	return l, nil
}

func (l *Log) parseLine(s string, number int, seen map[Key]int) (err error) {
	name, value, _ := strings.Cut(s, " ")
	switch name {
	case "seed":
		l.Seed, err = strconv.ParseUint(value, 10, 64)
		return err
	case "for":
		l.For, err = time.ParseDuration(value)
		return err
	case "commit":
		l.Commit = value
	case "hash":
		l.Hash = value
	case "property":
		l.Property = value
	case "note":
		l.Note = value
	default:
		if !strings.Contains(name, ".") {
			return fmt.Errorf("%q is neither a header nor a kind of choice", name)
		}
		r, why, err := parseRecord(s)
		if err != nil {
			return err
		}
		if why != "" {
			l.Unknown = append(l.Unknown, UnknownLine{Number: number, Text: s, Why: why})
			return nil
		}
		if before := seen[r.Key]; before > 0 {
			return fmt.Errorf("the choice of line %d again", before)
		}
		seen[r.Key] = number
		l.Records = append(l.Records, r)
	}
	return nil
}

// parseRecord reads one choice. why is not empty if its kind or actor is not known.
func parseRecord(s string) (r Record, why string, err error) {
	f := strings.Fields(s)
	if len(f) != 6 {
		return r, "", fmt.Errorf("a choice has 6 fields, not %d", len(f))
	}
	kind, ok := kindNamed(f[0])
	if !ok {
		why = "no such kind of choice"
	}
	r.Kind = kind
	class, index, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(index, 10, 40)
	if err != nil {
		return r, "", fmt.Errorf("%q is no actor", f[1])
	}
	c, ok := classNamed(class)
	if !ok && why == "" {
		why = "no such actor"
	}
	r.Actor = Of(c, n)
	for i, field := range [...]struct {
		name string
		bits int
		to   func(uint64)
	}{
		{"purpose=", 32, func(v uint64) { r.Purpose = uint32(v) }},
		{"n=", 64, func(v uint64) { r.N = v }},
		{"value=", 64, func(v uint64) { r.Value = v }},
		{"of=", 64, func(v uint64) { r.Range = v }},
	} {
		text, ok := strings.CutPrefix(f[2+i], field.name)
		if !ok {
			return r, "", fmt.Errorf("%q where %s… is expected", f[2+i], field.name)
		}
		v, err := strconv.ParseUint(text, 10, field.bits)
		if err != nil {
			return r, "", fmt.Errorf("%s%q is no number", field.name, text)
		}
		field.to(v)
	}
	if r.Range == 0 || r.Value >= r.Range {
		return r, "", fmt.Errorf("value %d is not among %d values", r.Value, r.Range)
	}
	return r, why, nil
}

func kindNamed(name string) (Kind, bool) {
	for k := None + 1; k < numKinds; k++ {
		if table[k].name == name {
			return k, true
		}
	}
	return None, false
}

func classNamed(name string) (Class, bool) {
	for c, n := range classNames {
		if n == name {
			return Class(c), true
		}
	}
	return 0, false
}
