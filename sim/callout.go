package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/model"
	"github.com/natsd/natsd/sim/schedule"
)

// In some runs a service decides who clients are (auth callout). It is on the server's own machine, without a network between
// the two, and knows each client's account and permissions as they were drawn; but it is late, silent, lying or gone now and
// then. What it answers is callout_answer.go, and what follows property_callout.go.

// callout is the configuration of such a run.
type callout struct {
	issuer, liar, other signer
	curve               *signer // nil: questions and answers are not encrypted
	trouble             uint32  // chance per million and question that it is not answered as it should be
	absence             uint32  // chance per million and second that the service goes
	flood               int     // how many requests to the server it sends before each answer
}

// The service's account and user.
const (
	calloutAccount = "AUTH"
	calloutUser    = "service"
)

// callout draws whether a service decides who clients are.
func (d draw) callout(c *config) {
	if c.tenants != nil || c.auth == authJWT || d.of(cfgCallout, 0, 0, 1) != 1 {
		return
	}
	d.settle(c, 1)
	x := &callout{
		issuer: newSigner(nkeys.PrefixByteAccount, 1), liar: newSigner(nkeys.PrefixByteAccount, 2),
		other: newSigner(nkeys.PrefixByteUser, 3),
	}
	o := &c.engine
	o.Callout = &settings.AuthCallout{Issuer: x.issuer.public, Account: calloutAccount, Users: []string{calloutUser}}
	if d.of(cfgCalloutSealed, 0, 1) == 1 && !o.NoHeaders { // a header says for whom answers are encrypted
		curve := newSigner(nkeys.PrefixByteCurve, 4)
		x.curve, o.Callout.XKey = &curve, curve.public
	}
	if c.listens {
		o.Callout.Users = append(o.Callout.Users, systemUser)
	}
	o.Accounts = append(o.Accounts, settings.Account{
		Name: calloutAccount, Users: []settings.User{{Name: calloutUser, Password: authSecret}},
	})
	for i := range c.tenants.rendered[0] {
		c.tenants.rendered[0][i].Users = nil // nobody but the service knows them
	}
	if d.of(cfgCalloutListed, 0, 1) == 1 { // users of the other accounts are not asked about, and there are none
		o.Callout.AllowedAccounts = []string{c.tenants.rendered[0][0].Name}
	}
	// Answers must fit, and the service must find a place.
	o.MaxPayload, o.MaxConnections = max(o.MaxPayload, 8<<10), max(o.MaxConnections, 65536)
	x.trouble = uint32(d.of(cfgCalloutTrouble, 0, 100_000, 400_000))
	x.absence = uint32(d.of(cfgCalloutAbsence, 0, 10_000, 100_000))
	if o.TurnWork > floodCalls { // else it takes turns to read them, and they never are too many
		x.flood = int(d.of(cfgCalloutFlood, 0, 2*floodCalls))
	}
	if x.flood > 0 {
		o.MaxCalls = floodCalls
	}
	c.callout = x
}

// floodCalls is how many requests to the server may wait where the service floods it.
const floodCalls = 100

// patienceOpen is how long a client waits for the first PONG: where a service decides, longer than anybody who decides may
// take on a slow server, so that a login that is decided by nobody shows.
func (c *config) patienceOpen() schedule.Time {
	if c.callout != nil {
		return 6 * patienceOpen
	}
	return patienceOpen
}

// service is the one that decides, as it is connected to a process.
type service struct {
	local
	stays  uint64        // counts its connections
	since  schedule.Time // from when on it is asked every question; 0: it is not
	hung   bool          // it answers nothing
	asked  []*inquiry
	users  map[string]bool // keys that were made up for questions
	given  string          // an answer to a former question
	sealed uint64          // counts what was encrypted
}

// inquiry is a question that the service was asked.
type inquiry struct {
	client  *client
	dial    uint64
	stay    uint64 // of the service
	answer  answerKind
	reply   string
	user    string // the key made up for it
	server  string // public key
	curve   string // of the server
	heardAt engine.Instant
	firstAt engine.Instant // when the server was given the first answer; 0: it was not
	right   bool           // that is as it should be
	decided bool           // the server has said something to the client since, or closed its connection
	lost    bool           // the service broke when the server had its answer, and perhaps had not looked at it
	held    bool           // … when it had been held up: what had come meanwhile it looked at before the time
}

// What the service does; questions are answered from serviceAnswer on, by their places in asked.
const (
	serviceComes uint64 = iota
	servicePongs
	serviceBreaks
	serviceLeaves
	serviceResumes
	serviceAnswer
)

const serviceHello = `CONNECT {"verbose":false,"pedantic":false,"headers":true,"user":"` + calloutUser + `","pass":"` + authSecret + `"}` +
	"\r\nSUB $SYS.REQ.USER.AUTH 1\r\n" + serviceForges + "PING\r\n"

// serviceForges is what nobody in the service's account may send it, the service itself as any: what it gets besides questions of
// the server's fails the run.
const serviceForges = "PUB $SYS.REQ.USER.AUTH 6\r\nforged\r\nPUB $SYS.REQ.USER.INFO $SYS.REQ.USER.AUTH 0\r\n\r\n"

// serviceIn has the service do something after a while.
func (n *node) serviceIn(d schedule.Time, what uint64) {
	if n.w.cfg.callout != nil {
		n.after(nodeService, what, d)
	}
}

// serviceDoes has it do something, inside a turn.
func (n *node) serviceDoes(what uint64) {
	s := &n.service
	if what == serviceComes {
		n.serviceConnects()
		return
	}
	if s.id == 0 {
		return
	}
	switch what {
	case servicePongs:
		n.eng.Received(s.id, []byte("PONG\r\n"))
	case serviceBreaks:
		for _, q := range s.asked[max(len(s.asked)-checkedBack, 0):] {
			q.lost = q.lost || q.stay == s.stays && q.firstAt > 0 && !q.decided
		}
		id := s.id
		n.serviceGone()
		n.eng.Closed(id, "connection reset by peer")
	case serviceLeaves:
		n.eng.EOF(s.id)
	case serviceResumes:
		s.hung = false
	default:
		n.answerInquiry(what)
	}
}

func (n *node) serviceConnects() {
	s := &n.service
	if n.w.cfg.callout == nil || s.id != 0 || n.stopping || n.w.heardAll {
		return
	}
	if !n.connectLocal(&s.local, 2, propCallout, "the service is turned away", serviceHello) {
		return
	}
	s.stays++
	s.hung, s.since = false, 0
}

// serviceGone is told when its connection has ended.
func (n *node) serviceGone() {
	s := &n.service
	s.id, s.since = 0, 0
	if !n.w.faults.over {
		n.serviceIn(millisecond<<n.serviceExtent().below(extentLong, 12), serviceComes)
		return
	}
	n.serviceIn(10*millisecond, serviceComes)
}

// serviceSends takes what the server sends to it.
func (n *node) serviceSends(bufs [][]byte) (taken int) {
	return n.localSends(&n.service.local, "the service", bufs, func(in *inbound) {
		switch in.verb {
		case saidPing:
			n.tell(ready{kind: readyService, n: servicePongs})
		case saidPong:
			n.service.since = n.w.queue.Now()
		case saidMsg:
			n.heardInquiry(in)
		case saidInfo, saidOK, saidErr:
		}
	})
}

// What may happen to the service. Numbers are purposes of decision.SimFault, and of SimExtent above those of faults.
const (
	serviceFate  = 100 + iota // it goes, or falls silent
	serviceLies               // it answers a question otherwise than it should
	serviceHow                // … so
	serviceWrong              // how it refuses a client
	serviceWait               // of SimDetail: for how long it thinks
	serviceBack               // of SimExtent: when it comes back
)

func (n *node) serviceExtent() extent {
	s := &n.service
	k := decision.Key{Kind: decision.SimExtent, Actor: n.actor, Purpose: serviceBack << extentStep, N: n.life<<32 | s.stays}
	return extent{n.w.source, k}
}

// haunt makes the service go, or fall silent, in the nth second.
func (n *node) haunt(nth uint64) {
	x := n.w.cfg.callout
	if x == nil || n.eng == nil || n.service.id == 0 {
		return
	}
	k := decision.Key{Kind: decision.SimFault, Actor: n.actor, Purpose: serviceFate, N: nth}
	if !n.w.source.Chance(k, x.absence) {
		return
	}
	n.w.struck++
	e := extent{n.w.source, decision.Key{Kind: decision.SimExtent, Actor: n.actor, Purpose: serviceFate << extentStep, N: nth}}
	if e.below(extentHow, 2) == 1 {
		long := millisecond << e.below(extentLong, 13) // up to four seconds
		n.w.note(n.index, "the service answers nothing for "+time.Duration(long).String())
		n.service.hung = true
		n.serviceIn(long, serviceResumes)
		return
	}
	n.w.note(n.index, "the service breaks")
	n.tell(ready{kind: readyService, n: serviceBreaks})
}

// showLogin appends what a client shows to the service: its user, and a password that names the connection.
func (c *client) showLogin(b []byte) []byte {
	b = append(append(b, `,"user":"`...), c.user...)
	b = strconv.AppendUint(append(b, `","pass":"`...), uint64(c.index), 10)
	b = strconv.AppendUint(append(b, '.'), c.dial, 10)
	return append(b, '"')
}

// shown finds the client that a question is about, and which of its connections.
func (w *world) shown(password string) (c *client, dial uint64) {
	index, text, _ := strings.Cut(password, ".")
	i, err := strconv.ParseUint(index, 10, 32)
	dial, err2 := strconv.ParseUint(text, 10, 64)
	if err != nil || err2 != nil {
		return nil, 0
	}
	return w.client(uint32(i)), dial
}

// place is the account and the permissions that the service gives a client.
func (c *client) place() (account string, may *model.Permissions) {
	u, account := c.w.cfg.tenants.versions[0].User(c.user)
	return account, u.May
}
