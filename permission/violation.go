package permission

import "strconv"

// AppendPublishViolation appends what a client is told whose message was
// refused: the text within the quotes of -ERR.
func AppendPublishViolation(dst, subj []byte) []byte {
	return appendQuoted(append(dst, "Permissions Violation for Publish to "...), subj)
}

// AppendSubscribeViolation appends what a client is told whose subscription was
// refused, or taken away. queue is empty for plain subscriptions.
func AppendSubscribeViolation(dst, subj, queue []byte) []byte {
	dst = appendQuoted(append(dst, "Permissions Violation for Subscription to "...), subj)
	if len(queue) > 0 {
		dst = appendQuoted(append(dst, " using queue "...), queue)
	}
	return dst
}

// AppendPublishLog appends the text of the log for a refused message.
func AppendPublishLog(dst, subj []byte) []byte {
	return appendQuoted(append(dst, "Publish Violation - Subject "...), subj)
}

// AppendSubscribeLog appends the text of the log for a refused subscription.
func AppendSubscribeLog(dst, subj, queue, sid []byte) []byte {
	dst = appendQuoted(append(dst, "Subscription Violation - Subject "...), subj)
	if len(queue) > 0 {
		dst = appendQuoted(append(dst, ", Queue: "...), queue)
	}
	return append(append(dst, ", SID "...), sid...)
}

// appendQuoted appends text as Go quotes strings, which is what nats-server
// shows to clients. It is for refusals, so the copy does not matter.
func appendQuoted(dst, text []byte) []byte { return strconv.AppendQuote(dst, string(text)) }
