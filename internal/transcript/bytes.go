package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// dataMax bounds what one line of a transcript may stand for.
const dataMax = 64 << 20

// parseBytes reads parts like "PUB foo 5\r\n" "x"*5 `raw`: Go strings, each with an optional repeat count, concatenated.
func parseBytes(s string) ([]byte, error) {
	data, rest, err := parseParts(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("unexpected %q after the bytes", rest)
	}
	return data, err
}

// parseChoices reads parts separated by "|".
func parseChoices(s string) ([][]byte, error) {
	var choices [][]byte
	for {
		data, rest, err := parseParts(s)
		if err != nil {
			return nil, err
		}
		choices = append(choices, data)
		if rest == "" {
			return choices, nil
		}
		if rest[0] != '|' {
			return nil, fmt.Errorf("unexpected %q after the bytes", rest)
		}
		s = rest[1:]
	}
}

func parseParts(s string) (data []byte, rest string, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, "", errors.New("no bytes given")
	}
	for s != "" && s[0] != '|' {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, "", fmt.Errorf("%q does not start with a quoted string", s)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", quoted, err)
		}
		s = s[len(quoted):]
		count := 1
		if strings.HasPrefix(s, "*") {
			end := 1
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			if count, err = strconv.Atoi(s[1:end]); err != nil {
				return nil, "", fmt.Errorf("repeat count in %q: %w", s, err)
			}
			s = s[end:]
		}
		if count > dataMax || len(data)+count*len(text) > dataMax {
			return nil, "", fmt.Errorf("more than %d bytes in one line", dataMax)
		}
		data = append(data, strings.Repeat(text, count)...)
		s = strings.TrimSpace(s)
	}
	return data, s, nil
}

// Quote writes bytes the way parseBytes reads them: protocol lines apart, JSON without escapes, repetitions as a count.
func Quote(data []byte) string {
	var parts []string
	for len(data) > 0 {
		end := len(data)
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			end = i + 1
		}
		if n := run(data); n >= 40 {
			parts = append(parts, strconv.Quote(string(data[:1]))+"*"+strconv.Itoa(n))
			data = data[n:]
			continue
		}
		for i := 1; i < end; i++ {
			if run(data[i:end]) >= 40 {
				end = i
				break
			}
		}
		parts = append(parts, quoteLine(data[:end]))
		data = data[end:]
	}
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(fold(parts), " ")
}

// fold replaces equal neighbours by one with a count.
func fold(parts []string) []string {
	var folded []string
	for i := 0; i < len(parts); {
		n := 1
		for i+n < len(parts) && parts[i+n] == parts[i] {
			n++
		}
		if part := parts[i]; n > 3 && strings.HasSuffix(part, part[:1]) {
			folded = append(folded, part+"*"+strconv.Itoa(n))
		} else {
			folded = append(folded, parts[i:i+n]...)
		}
		i += n
	}
	return folded
}

func quoteLine(line []byte) string {
	text, ended := strings.CutSuffix(string(line), "\r\n")
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		if ended {
			return "`" + text + "` " + `"\r\n"`
		}
		return "`" + text + "`"
	}
	return strconv.Quote(string(line))
}

// run is how often the first byte repeats at the start of data.
func run(data []byte) int {
	n := 0
	for n < len(data) && data[n] == data[0] {
		n++
	}
	return n
}
