package sim

import "github.com/natsd/natsd/sim/decision"

// A server that has nothing to do gives up what its engine keeps for reuse. In the simulator it does so at any time between two
// turns: whatever is under way, nothing may come of it.

const (
	// askGiveUp is the purpose of the choice whether it does in the nth second.
	askGiveUp = 2
	// giveUpChance is how likely that is, per million.
	giveUpChance = 50_000
)

// mayGiveUp draws whether the server gives up what is spare.
func (n *node) mayGiveUp(nth uint64) {
	k := decision.Key{Kind: decision.SimOperation, Actor: n.actor, Purpose: askGiveUp, N: nth}
	if n.w.source.Chance(k, giveUpChance) {
		n.effect(EventGiveUp, 0, 0)
		n.eng.GiveUpSpare()
	}
}
