package sim

import "strconv"

// Where a request finds nobody, the engine looks for the subscription of the requester's that is to be told so among all that its reply
// subject reaches: mostly that is the only one. In some runs many hear what others are answered, those who answer are few, and the
// engine looks through few at a time, so that it takes pieces, and turns, to find it.

// unanswered draws whether a run is about that.
func (d draw) unanswered(c *config) {
	if c.tenants != nil || c.callout != nil || c.trustees != nil || d.of(cfgUnanswered, 0, 0, 0, 0, 0, 1) != 1 {
		return
	}
	c.unanswered = true
	for k := range c.kinds {
		switch clientKind(k) {
		case kindNone, kindPublisher, kindBurst, kindBadAuth, kindSilent, kindHostile:
		default: // whoever subscribes to whatever there is gets the requests
			c.kinds[k] = 0
		}
	}
	c.kinds[kindRequester], c.kinds[kindEar], c.kinds[kindResponder] = 30, 30, 6
	c.clients = max(c.clients, 12)
	c.engine.MaxSubscriptions = 0
	c.engine.MatchWork = int(d.of(cfgUnansweredWork, 1, 3, 10))
}

// unansweredOwn is how many subscriptions a requester has besides, which get nothing.
const unansweredOwn = 12

// unansweredSubjects is how many are asked.
const unansweredSubjects = 4

// drawUnanswered draws what is asked, or served.
func (s slotKey) drawUnanswered() string {
	return "n." + strconv.FormatUint(s.below(detailService, unansweredSubjects), 10)
}
