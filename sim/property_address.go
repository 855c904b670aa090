package sim

import (
	"strconv"
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/monitor"
)

// A client is shown where its proxy says that it is, once the server has the whole header, and where its connection comes from else.

// propAddress is the name of the property.
const propAddress = "address"

// beforeNumber is what stands in the name of a connection between its address and its number.
const beforeNumber = " - "

// head is what the connection sends first.
func (nc *nodeConn) head() *proxyHead {
	if nc.client == nil {
		return &proxyHead{}
	}
	return &nc.client.heads[nc.dial]
}

// at is where the client must be shown to be when the server was given so many bytes of it.
func (nc *nodeConn) at(handed int64) engine.ConnInfo {
	if h := nc.head(); h.claim.IP != "" && handed >= int64(len(h.text)) {
		return h.claim
	}
	return nc.info
}

// unopened reports whether the server was not given enough to know whether a header comes, and what it says. It closes such
// a connection in the end, and says nothing.
func (nc *nodeConn) unopened() bool {
	const decided = 6 // bytes
	return nc.client != nil && nc.client.w.cfg.engine.ProxyProtocol && nc.handed < int64(max(len(nc.head().text), decided))
}

// sameConn reports whether two names in the log are of one connection: its number tells.
func sameConn(name, other string) bool {
	_, a, _ := strings.Cut(name, beforeNumber)
	_, b, _ := strings.Cut(other, beforeNumber)
	return a == b
}

// judgeAddress holds the name by which the log calls a connection against where its client is. What the server was given in the
// present turn it may not have come to.
func (n *node) judgeAddress(nc *nodeConn, subject string) {
	address, _, _ := strings.Cut(subject, beforeNumber)
	for _, handed := range [...]int64{nc.before, nc.handed} {
		if at := nc.at(handed); address == at.IP+":"+strconv.Itoa(at.Port) {
			return
		}
	}
	n.w.fail(propAddress, nc.who()+" is called "+address+" in the log")
}

// misplaced says which of the open connections monitoring shows elsewhere than they are; empty: none.
func (n *node) misplaced(a *monitor.Connz) string {
	for _, c := range a.Pick() {
		nc := n.slot(engine.ConnID(c.ID))
		if nc == nil || c.Stop != 0 {
			continue
		}
		if at := nc.at(nc.handed); c.IP != at.IP || c.Port != at.Port {
			return nc.who() + " is shown at " + c.IP + ":" + strconv.Itoa(c.Port) + ", it is at " + at.IP + ":" + strconv.Itoa(at.Port)
		}
	}
	return ""
}
