package wire

import "strconv"

// HeaderLine starts every header block (ADR-4).
const HeaderLine = "NATS/1.0"

// AppendNoResponders appends the header block of a 503: the status line and the subject nobody listened on (ADR-4).
func AppendNoResponders(dst, subject []byte) []byte {
	dst = append(dst, HeaderLine+" 503\r\nNats-Subject: "...)
	dst = append(dst, subject...)
	return append(dst, "\r\n\r\n"...)
}

// AppendUint appends n in decimal.
func AppendUint(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
