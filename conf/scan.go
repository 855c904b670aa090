package conf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner is a place in a text.
type scanner struct {
	text string
	at   int
	pos  Pos
}

func (s *scanner) end() bool { return s.at >= len(s.text) }

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) next() byte {
	ends := s.atLineEnd()
	c := s.peek()
	s.at++
	switch {
	case ends:
		s.pos.Line++
		s.pos.Col = 1
	case c&0xC0 != 0x80: // bytes within a character don't count
		s.pos.Col++
	}
	return c
}

// atLineEnd reports whether a line ends with the next byte: \n, or a \r that no \n follows.
func (s *scanner) atLineEnd() bool {
	c := s.peek()
	return c == '\n' || c == '\r' && !strings.HasPrefix(s.text[s.at:], "\r\n")
}

// skipTo moves forward to offset at.
func (s *scanner) skipTo(at int) {
	for s.at < at {
		s.next()
	}
}

// blanks passes over spaces and tabs, and over lines and every other white space where lines says so.
func (s *scanner) blanks(lines bool) {
	for {
		switch c := s.peek(); {
		case c == ' ' || c == '\t':
			s.next()
		case lines && s.atSpace():
			_, n := utf8.DecodeRuneInString(s.text[s.at:])
			s.skipTo(s.at + n)
		default:
			return
		}
	}
}

// atSpace reports whether white space comes next, new lines and that of Unicode included.
func (s *scanner) atSpace() bool {
	if c := s.peek(); c < utf8.RuneSelf {
		return !s.end() && isSpace(c)
	}
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	if n > 1 {
		return unicode.IsSpace(r)
	}
	return false
}

// skip passes over white space and comments; over lines too where lines says so.
func (s *scanner) skip(lines bool) {
	for {
		s.blanks(lines)
		if !lines && s.peek() == '\r' && strings.HasPrefix(s.text[s.at:], "\r\n") {
			s.next()
		}
		if s.peek() != '#' && !strings.HasPrefix(s.text[s.at:], "//") {
			return
		}
		for !s.end() && !s.atLineEnd() {
			s.next()
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// rest is the beginning of the line from here, for messages.
func (s *scanner) rest() string {
	const most = 20
	line := s.text[min(s.at, len(s.text)):]
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
