package engine

// inboxToken makes reply subjects of the server's own that can't be guessed.
const inboxTokenLen = 16

// inboxTaker takes what is answered to a request of the server's own.
type inboxTaker interface {
	answered(e *Engine, k *call)
}

// inbox makes sure that answers to the server are received in an account. Their subjects begin with a.inboxPrefix.
func (e *Engine) inbox(a *account) {
	if a.inboxPrefix != "" {
		return
	}
	a.inboxPrefix = "$SYS._INBOX." + string(e.appendID(nil, inboxTokenLen/2)) + "."
	s := e.handle(a, a.inboxPrefix+"*", func(k *call) {
		if t := e.inboxes[k.subject[len(a.inboxPrefix):]]; t != nil { // nobody has answered since
			t.answered(e, k)
		}
	})
	s.also.answers = a.inboxPrefix
}

// endInbox ends the wait for answers; a second time nothing happens.
func (e *Engine) endInbox(token *string) {
	if *token != "" {
		delete(e.inboxes, *token)
		*token = ""
	}
}
