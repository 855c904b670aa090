package engine

import (
	"strconv"
	"strings"
)

// joinHostPort writes an address; host may be an IPv6 address.
func joinHostPort(host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// splitHostPort splits "host", "host:port", "[host]" or "[host]:port". The port is 0 where there is none that makes sense.
func splitHostPort(s string) (host string, port int) {
	host = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (strings.IndexByte(s, ':') == i || strings.HasSuffix(s[:i], "]")) {
		if n, err := strconv.ParseUint(s[i+1:], 10, 16); err == nil {
			host, port = s[:i], int(n)
		}
	}
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	return host, port
}
