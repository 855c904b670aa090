package engine

// Some subjects are servers' among themselves, as with nats-server: no client may publish on those of gateways and of groups that
// replicate, but one of the system account on the latter. And what begins like a reply subject that servers make is none for a client to
// give: the answer would be taken for somebody else's.
const (
	gatewayPrefix    = "_GR_."
	oldGatewayPrefix = "$GR."
	groupPrefix      = "$NRG."
	ackPrefix        = "$JS.ACK."
)

// begins reports whether subj begins with the prefix, and goes on.
func begins(subj []byte, prefix string) bool {
	return len(subj) > len(prefix) && string(subj[:len(prefix)]) == prefix
}

// reserved returns the prefix by which clients may not publish on subj; empty: none. system: they are the system account's.
func reserved(subj []byte, system bool) string {
	if len(subj) == 0 || subj[0] != '$' && subj[0] != '_' {
		return ""
	}
	switch {
	case begins(subj, gatewayPrefix):
		return gatewayPrefix
	case begins(subj, oldGatewayPrefix):
		return oldGatewayPrefix
	case begins(subj, groupPrefix) && !system:
		return groupPrefix
	}
	return ""
}

// reservedReply reports whether clients may not ask for answers on subj.
func reservedReply(subj []byte) bool {
	if len(subj) == 0 || subj[0] != '$' && subj[0] != '_' {
		return false
	}
	return string(subj) == replyPrefix || isReplySubject(subj) || begins(subj, gatewayPrefix) || begins(subj, oldGatewayPrefix) || begins(subj, ackPrefix)
}
