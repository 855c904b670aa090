package netsim

import "strconv"

const maxHosts = 1 << 17

const loopbackIP = "127.0.0.1"

// hostIP is the address of the host with that index: 10.0.0.1 for the first.
func hostIP(index int) string {
	i := index + 1
	return "10." + strconv.Itoa(i>>16) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255)
}

// splitAddr parts "host:port", "[host]:port" or ":port".
func splitAddr(addr string) (host string, port int, ok bool) {
	for i := len(addr) - 1; i >= 0; i-- {
		if addr[i] != ':' {
			continue
		}
		port, err := strconv.Atoi(addr[i+1:])
		if err != nil || port < -1 || port > 65535 {
			return "", 0, false
		}
		host = addr[:i]
		if len(host) >= 2 && host[0] == '[' && host[len(host)-1] == ']' {
			host = host[1 : len(host)-1]
		}
		return host, port, true
	}
	return "", 0, false
}

func joinAddr(host string, port int) string {
	for i := range len(host) {
		if host[i] == ':' {
			return "[" + host + "]:" + strconv.Itoa(port)
		}
	}
	return host + ":" + strconv.Itoa(port)
}

func isLoopback(host string) bool { return host == loopbackIP || host == "::1" || host == "localhost" }

func isAny(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" || host == "*" }

// lookup finds the host that addr names when dialled from h; nil if there is none.
func (n *Net) lookup(h *Host, addr string) *Host {
	if isLoopback(addr) || addr == h.ip || isAny(addr) {
		return h
	}
	index, part, dots := 0, 0, 0
	for i := 0; i <= len(addr); i++ {
		switch {
		case i == len(addr) || addr[i] == '.':
			if dots == 0 && part != 10 || part > 255 {
				return nil
			}
			if dots > 0 {
				index = index<<8 | part
			}
			dots++
			part = 0
		case addr[i] >= '0' && addr[i] <= '9' && part < 256:
			part = part*10 + int(addr[i]-'0')
		default:
			return nil
		}
	}
	if dots != 4 {
		return nil
	}
	return n.Host(index - 1)
}
