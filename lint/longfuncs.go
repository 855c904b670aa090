package lint

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed longfuncs.txt
var longFuncsText string

// LongFunc is one function that longfuncs.txt allows to be longer than the rule.
type LongFunc struct {
	File     string // path from the root of the repository, with slashes
	Name     string // "name" or "(*Receiver).name"
	LinesMax int
	Reason   string
}

// LongFuncs returns the entries of longfuncs.txt. A malformed line or one without a reason is an
// error.
func LongFuncs() ([]LongFunc, error) {
	return parseLongFuncs(longFuncsText)
}

func parseLongFuncs(text string) ([]LongFunc, error) {
	var all []LongFunc
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			return nil, fmt.Errorf("longfuncs.txt:%d: want file, function, lines and a reason", i+1)
		}
		lines, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("longfuncs.txt:%d: lines: %w", i+1, err)
		}
		all = append(all, LongFunc{
			File:     fields[0],
			Name:     fields[1],
			LinesMax: lines,
			Reason:   strings.Join(fields[3:], " "),
		})
	}
	return all, nil
}
