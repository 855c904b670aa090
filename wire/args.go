package wire

// PubArgs are the arguments of a PUB or HPUB line. The slices are borrowed from the line.
type PubArgs struct {
	Subject []byte
	Reply   []byte // empty: none
	// HeaderToken and SizeToken are the numbers as written: they are echoed to receivers verbatim.
	HeaderToken []byte // HPUB only
	SizeToken   []byte
	Header      int // bytes of headers; -1 for PUB
	Size        int // bytes of headers and payload
}

// maxSizeDigits bounds a size token: 999,999,999 bytes is beyond every max_payload and fits an int32.
const maxSizeDigits = 9

// ParsePub reads "subject [reply] size". It reports false for a wrong number of arguments or a size that is no number.
// It does not look into the subject.
func (a *PubArgs) ParsePub(line []byte) bool {
	var f [4][]byte
	n := fields(line, f[:], ' ')
	a.Header, a.HeaderToken = -1, nil
	switch n {
	case 2:
		a.Subject, a.Reply, a.SizeToken = f[0], nil, f[1]
	case 3:
		a.Subject, a.Reply, a.SizeToken = f[0], f[1], f[2]
	default:
		return false
	}
	a.Size = parseSize(a.SizeToken)
	return a.Size >= 0
}

// ParseHPub reads "subject [reply] header-size total-size". It reports false for a wrong number of arguments, a size that
// is no number, or a header larger than the total.
func (a *PubArgs) ParseHPub(line []byte) bool {
	var f [5][]byte
	n := fields(line, f[:], ' ')
	switch n {
	case 3:
		a.Subject, a.Reply, a.HeaderToken, a.SizeToken = f[0], nil, f[1], f[2]
	case 4:
		a.Subject, a.Reply, a.HeaderToken, a.SizeToken = f[0], f[1], f[2], f[3]
	default:
		return false
	}
	a.Header, a.Size = parseSize(a.HeaderToken), parseSize(a.SizeToken)
	return a.Header >= 0 && a.Size >= a.Header
}

// ParseSub reads "subject [queue] sid". The slices are borrowed from the line; queue is nil when there is none.
func ParseSub(line []byte) (subject, queue, sid []byte, ok bool) {
	var f [4][]byte
	switch fields(line, f[:], '\r') {
	case 2:
		return f[0], nil, f[1], true
	case 3:
		return f[0], f[1], f[2], true
	}
	return nil, nil, nil, false
}

// ParseUnsub reads "sid [max]". A max that is no positive number counts as none (0): unsubscribe at once.
func ParseUnsub(line []byte) (sid []byte, maxMsgs int, ok bool) {
	var f [3][]byte
	switch fields(line, f[:], '\r') {
	case 1:
		return f[0], 0, true
	case 2:
		return f[0], max(parseSize(f[1]), 0), true
	}
	return nil, 0, false
}

// fields splits at runs of spaces, tabs, line feeds and the byte sep, which is no larger than a space, into dst and returns how
// many there are; len(dst) means that many or more. (A line feed is among them only where it is the first byte.)
func fields(line []byte, dst [][]byte, sep byte) int {
	n := 0
	for i := 0; i < len(line); i++ {
		if separates(line[i], sep) {
			continue
		}
		start := i
		for i++; i < len(line) && !separates(line[i], sep); i++ {
		}
		dst[n] = line[start:i]
		n++
		if n == len(dst) {
			break
		}
	}
	return n
}

// separates reports whether c stands between two fields.
func separates(c, sep byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\n' || c == sep) }

// parseSize reads a decimal number of at most nine digits; -1 when it is none.
func parseSize(b []byte) int {
	if len(b) == 0 || len(b) > maxSizeDigits {
		return -1
	}
	n := 0
	for _, c := range b {
		c -= '0'
		if c > 9 {
			return -1
		}
		n = n*10 + int(c)
	}
	return n
}
