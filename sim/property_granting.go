package sim

import (
	"strconv"
	"strings"

	"github.com/natsd/natsd/engine"
)

// Who may publish nothing but answers may give each as often, and for as long, as was allowed when it was asked, whatever reloads come
// that leave that; none that is outstanding where one changes it; and no more. Each that is taken arrives.

// propGranting is the name of the property.
const propGranting = "granting"

// allowancesChanged is told that a reload changes what may be answered.
func (n *node) allowancesChanged() {
	n.grants.changes++
	for i := range n.grants.all {
		n.grants.all[i].left = 0
	}
}

// grantHeard takes a message to one of them.
func (n *node) grantHeard(which int, in *inbound) {
	x := &n.grants
	if which == wantsAnswers {
		if in.sid == 1 && strings.HasPrefix(string(in.subject), "_R.") {
			x.got++
		}
		return
	}
	nth, err := strconv.Atoi(strings.TrimPrefix(string(in.reply), "_R."))
	if err != nil || nth >= len(x.all) || x.all[nth].heard != 0 {
		n.w.fail(propGranting, "a request comes that was not asked, or again: "+quote(in.reply))
		return
	}
	g := &x.all[nth]
	if g.heard, _ = n.Now(); g.heard == 0 {
		g.heard = 1
	}
	g.left, g.within = n.allowance.most, n.allowance.within
	g.doubtful = g.changed != x.changes
}

// grantJudged judges whether the server took an answer, which is known now.
func (n *node) grantJudged() {
	who, x := &n.granters[givesAnswers], &n.grants
	if !who.waits {
		return
	}
	who.waits = false
	g := &x.all[who.nth]
	if !who.refused {
		x.taken++
	}
	if who.changed != x.changes { // it may have been judged by either
		return
	}
	now, _ := n.Now()
	within := engine.Instant(g.within)
	may := g.left > 0 && now-g.asked < within
	mayNot := g.left == 0 || who.at-g.heard > within
	switch {
	case g.doubtful:
	case who.refused && may:
		n.w.fail(propGranting, "an answer to request "+strconv.Itoa(who.nth)+" is refused, of which "+strconv.Itoa(g.left)+" more may be given")
	case !who.refused && mayNot:
		n.w.fail(propGranting, "an answer to request "+strconv.Itoa(who.nth)+" is taken that may not be given, "+strconv.Itoa(g.left)+" are left")
	}
	if who.refused {
		g.left = 0
	} else if g.left > 0 {
		g.left--
	}
}

// grantersServed reports whether all answers that were taken have arrived.
func (n *node) grantersServed() bool {
	return n.eng == nil || n.granters[wantsAnswers].id == 0 || !n.granters[givesAnswers].waits && n.grants.taken == n.grants.got
}
