package enum

type verb int

const (
	verbNone verb = iota
	pub
	sub
	ping
	pong
	numVerbs
)

func names(v verb) string {
	switch v { // want `missing cases in expression switch: pong`
	case pub, sub:
		return "message"
	case ping:
		return "keepalive"
	}
	return ""
}

func counted(v verb) bool {
	switch v {
	case pub, sub, ping, pong:
		return v < numVerbs
	}
	return false
}

func picksOne(v verb) bool {
	switch v {
	case ping, pong:
		return true
	}
	return false
}

func hasDefault(v verb) bool {
	switch v {
	case pub, sub, ping:
		return true
	default:
		return false
	}
}
