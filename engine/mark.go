package engine

// Mark names a moment worth reaching: a simulation that never reaches one has not tested what happens there. Marks are
// counted in the engine at the cost of an increment; the simulator reads them and reports those that stayed at zero.
type Mark uint8

// The marks, in the order of their rows below.
const (
	MarkSplitVerb Mark = iota
	MarkSplitArgs
	MarkSplitBeforeLF
	MarkSplitPayload
	MarkSplitPayloadEnd
	MarkSplitConnect
	MarkStallStart
	MarkStallRelease
	MarkStallTimeout
	MarkStallStash
	MarkSlowPending
	MarkSlowDeadline
	MarkSlowDataQueued
	MarkPartialWrite
	MarkEarlyFlush
	MarkRoomMade
	MarkSharedPayload
	MarkSharedLine
	MarkMemoHit
	MarkMemoStale
	MarkAutoUnsubInResult
	MarkQueueSkip
	MarkNoResponders
	MarkHeaderStripped
	MarkMaxPayload
	MarkMaxLine
	MarkMaxSubs
	MarkMaxConns
	MarkStale
	MarkPingSuppressed
	MarkAuthTimeout
	MarkAuthFailed
	MarkAuthJob
	MarkReapSliced
	MarkLameDuckEvict
	MarkEOFWithOutput
	MarkLingerTimeout
	MarkQuerySliced
	MarkFanoutSliced
	MarkQueueSliced
	MarkTLSStart
	MarkTLSFailed
	MarkTLSTimeout
	MarkSweepSliced
	MarkSweepFirst
	MarkAuthKnown
	MarkAuthShared
	MarkRequestCrossed
	MarkCrossingKept
	MarkReplyCrossed
	MarkReplyExpired
	MarkReplyAbandoned
	MarkReplyRevoked
	MarkReplyInherited
	MarkRequestsMax
	MarkPublishDenied
	MarkSubDenied
	MarkDeliveryFiltered
	MarkSubRevoked
	MarkShadowCast
	MarkShadowRecast
	MarkRecastSliced
	MarkRecastFirst
	MarkRecastAwaited
	MarkSearch
	MarkSearchSliced
	MarkSearchUnread
	MarkSearchGivenUp
	MarkNobodySought
	MarkRecastHurried
	MarkMoveFirst
	MarkRemakeSliced
	MarkRemakeAsked
	MarkFanoutSettled
	MarkUnderwayDenied
	MarkMappingLost
	MarkCrossingMapped
	MarkCrossingLost
	MarkHopsMax
	MarkProxyNamed
	MarkProxySplit
	MarkProxyAbsent
	MarkProxyFailed
	MarkProxyTimeout
	MarkAdmitLater
	NumMarks
)

var markNames = [NumMarks]string{
	MarkSplitVerb:         "a control line split inside its verb",
	MarkSplitArgs:         "a control line split inside its arguments",
	MarkSplitBeforeLF:     "a control line split between CR and LF",
	MarkSplitPayload:      "a message split inside its payload",
	MarkSplitPayloadEnd:   "a message split inside the CRLF after its payload",
	MarkSplitConnect:      "a CONNECT split",
	MarkStallStart:        "back-pressure engaged: a publisher held back",
	MarkStallRelease:      "back-pressure released because the receiver drained",
	MarkStallTimeout:      "back-pressure given up because the receiver took nothing",
	MarkStallStash:        "a publisher held back in the middle of what it had sent",
	MarkSlowPending:       "a slow consumer closed for max_pending",
	MarkSlowDeadline:      "a slow consumer closed for write_deadline",
	MarkSlowDataQueued:    "a slow consumer closed with data queued",
	MarkPartialWrite:      "a write taken in part",
	MarkEarlyFlush:        "a receiver written to before the end of the turn",
	MarkRoomMade:          "a receiver written to beyond what a turn writes early, to make room for a message",
	MarkSharedPayload:     "a large payload shared between receivers",
	MarkSharedLine:        "the line of a message shared by its receivers",
	MarkMemoHit:           "a publisher's remembered match used",
	MarkMemoStale:         "a publisher's remembered match invalidated",
	MarkAutoUnsubInResult: "a subscription that ended while a match held it",
	MarkQueueSkip:         "a queue member passed over",
	MarkNoResponders:      "a request without responders",
	MarkHeaderStripped:    "headers removed for a receiver without them",
	MarkMaxPayload:        "max_payload exceeded",
	MarkMaxLine:           "max_control_line exceeded",
	MarkMaxSubs:           "max_subscriptions exceeded",
	MarkMaxConns:          "max_connections exceeded",
	MarkStale:             "a stale connection closed",
	MarkPingSuppressed:    "a ping left out because of traffic",
	MarkAuthTimeout:       "authentication timed out",
	MarkAuthFailed:        "credentials refused",
	MarkAuthJob:           "a password checked by a job",
	MarkReapSliced:        "subscriptions of a closed connection removed over several turns",
	MarkLameDuckEvict:     "a client evicted in lame duck mode",
	MarkEOFWithOutput:     "a peer that ended its sending side got what was queued",
	MarkLingerTimeout:     "a closing connection given up because its peer did not close",
	MarkFanoutSliced:      "a message delivered over several turns",
	MarkQuerySliced:       "a monitoring answer made over several turns",
	MarkQueueSliced:       "a queue group whose members were tried over several turns",
	MarkTLSStart:          "a TLS handshake begun",
	MarkTLSFailed:         "a TLS handshake failed",
	MarkTLSTimeout:        "a TLS handshake timed out",
	MarkSweepSliced:       "all connections visited over several turns, for a reload or a stop",
	MarkSweepFirst:        "a connection brought up to date before its turn in such a visit",
	MarkAuthKnown:         "a password known from an earlier check",
	MarkAuthShared:        "a password whose check others waited for too",
	MarkRequestCrossed:    "a request went on to a service of another account",
	MarkCrossingKept:      "a request or answer was kept from a third account that imports streams from where it came",
	MarkReplyCrossed:      "an answer came back from another account",
	MarkReplyExpired:      "a request to another account given up because no answer came in time",
	MarkReplyAbandoned:    "a request to another account given up because nobody listens for the answer",
	MarkReplyRevoked:      "a request to another account given up because a reload took the way there away",
	MarkReplyInherited:    "a request to another account that a reload left under way",
	MarkRequestsMax:       "the oldest request to another account given up because there were too many",
	MarkPublishDenied:     "a publish that the permissions forbid",
	MarkSubDenied:         "a subscription that the permissions forbid",
	MarkDeliveryFiltered:  "a message kept from a subscription that may not have all that it matches",
	MarkSubRevoked:        "a subscription taken away by a reload",
	MarkShadowCast:        "a subscription that reached into another account",
	MarkShadowRecast:      "such a subscription renewed by a reload",
	MarkRecastSliced:      "subscriptions given what other imports call for over several turns",
	MarkRecastFirst:       "a subscription given what other imports call for before its turn, because of a message",
	MarkSearch:            "a message whose receivers take long to find",
	MarkSearchSliced:      "a search that went on in another turn",
	MarkSearchGivenUp:     "a message that nobody got since it took too long to find whom it reaches",
	MarkSearchUnread:      "a message that is read again after a reload that came while its receivers were searched for",
	MarkNobodySought:      "a 503 whose receiver takes long to find",
	MarkRecastAwaited:     "a message that waited until all subscriptions had what other imports call for",
	MarkRecastHurried:     "a message that did not wait for that, because too much waits or imports changed again and again",
	MarkMoveFirst:         "a subscription moved to its user's new account before its turn, because of a message",
	MarkRemakeSliced:      "subscriptions that follow a reload bit by bit",
	MarkRemakeAsked:       "subscriptions that follow another CONNECT bit by bit",
	MarkFanoutSettled:     "a message under way at a reload that goes on to other accounts: whom it reaches there is found out before",
	MarkUnderwayDenied:    "a message under way at a reload kept from somebody whom only the new permissions allow it",
	MarkMappingLost:       "a message lost by a mapping",
	MarkCrossingMapped:    "a message mapped by the account that it crossed into",
	MarkCrossingLost:      "a message lost by a mapping of the account that it crossed into",
	MarkAdmitLater:        "a connection accepted later, since others have much to be done",
	MarkHopsMax:           "a message that passed through too many accounts",
	MarkProxyNamed:        "a proxy's header said whose connection it is",
	MarkProxySplit:        "a proxy's header that arrived in pieces",
	MarkProxyAbsent:       "a connection that did not come by a proxy where others do",
	MarkProxyFailed:       "a proxy's header that is wrong, or not whole",
	MarkProxyTimeout:      "neither a proxy's header nor anything else came in time",
}

// String says what the moment is.
func (m Mark) String() string { return markNames[m] }

// Marks returns how often each moment was reached.
func (e *Engine) Marks() [NumMarks]uint32 { return e.marks }

func (e *Engine) mark(m Mark) { e.marks[m]++ }
