package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// answerKind is how the service answers a question. Numbers stand in logs: new kinds go to the end.
type answerKind uint8

const (
	answerRight     answerKind = iota
	answerTwice                // right, and again
	answerSlow                 // right, after half of the time there is
	answerLate                 // right, after the time there is
	answerNever                // not at all
	answerError                // with an error
	answerErrorOnce            // … and with the right answer behind it
	answerOtherUser            // with the JWT of a user with another key
	answerOtherName            // for another question
	answerServer               // for another server
	answerSigner               // signed by a key that nobody trusts
	answerForged               // … in the name of the right one
	answerUser                 // with the JWT of a user that such a key signed
	answerExpired              // in the past
	answerOldUser              // with a JWT that has expired
	answerNowhere              // with an account that does not exist
	answerFormer               // with what a former question was answered
	answerNonsense             // with what is no answer
	numAnswers
)

// firstWrong begins those that let nobody in.
const firstWrong = answerLate

var answerNames = [numAnswers]string{
	"rightly", "rightly, twice", "slowly", "too late", "never", "with an error", "with an error, then rightly", "with another user",
	"for another question", "for another server", "signed by somebody", "forged", "with a user signed by somebody", "in the past",
	"with a user that has expired", "with an account that is not", "as a former one", "with nonsense",
}

// answerWeights say how likely answers are in trouble.
var answerWeights = [numAnswers]uint32{1, 1, 1, 3, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// inquiryToken is what the service is asked, as far as it looks at it.
type inquiryToken struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
	Nats    struct {
		Server struct {
			ID   string `json:"id"`
			XKey string `json:"xkey"`
		} `json:"server_id"`
		User    string `json:"user_nkey"`
		Options struct {
			User     string `json:"user"`
			Password string `json:"pass"`
		} `json:"connect_opts"`
	} `json:"nats"`
}

// heardInquiry takes a question.
func (n *node) heardInquiry(in *inbound) {
	s, x := &n.service, n.w.cfg.callout
	body := in.payload
	q := &inquiry{reply: string(in.reply), stay: s.stays}
	if x.curve != nil {
		_, q.curve, _ = strings.Cut(strings.TrimSpace(string(in.header)), "Nats-Server-Xkey: ")
		var err error
		if body, err = x.curve.pair.Open(body, q.curve); err != nil {
			n.w.fail(propCallout, "the service can't read a question: "+err.Error())
			return
		}
	}
	t, ok := readInquiry(string(body))
	if !ok || t.Nats.Server.ID != t.Issuer || t.Nats.Server.XKey != q.curve || t.Subject != x.issuer.public {
		n.w.fail(propCallout, "a question is not what the server must ask: "+quote(body))
		return
	}
	q.user, q.server = t.Nats.User, t.Nats.Server.ID
	if s.users[q.user] {
		n.w.fail(propCallout, "two questions have the key "+q.user)
	}
	if s.users == nil {
		s.users = make(map[string]bool)
	}
	s.users[q.user] = true
	if q.client, q.dial = n.w.shown(t.Nats.Options.Password); q.client == nil || q.client.user != t.Nats.Options.User {
		n.w.fail(propCallout, "a question is about nobody: "+quote(body))
		return
	}
	q.heardAt, _ = n.Now()
	if c := q.client; c.dial == q.dial {
		if c.inquiry != nil {
			c.inquiry.decided = true // else the next CONNECT would wait
		}
		if len(c.unasked) == 0 {
			n.w.fail(propCallout, "the service is asked about "+c.name()+" once more than it says CONNECT")
			return
		}
		c.asked++
		c.unasked = c.unasked[1:]
		c.inquiry = q
	}
	s.asked = append(s.asked, q)
	n.planAnswer(q)
}

// readInquiry reads a question and verifies that its issuer signed it.
func readInquiry(text string) (t inquiryToken, ok bool) {
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return t, false
	}
	_, claims, _ := strings.Cut(text[:at], ".")
	raw, err := base64.RawURLEncoding.DecodeString(claims)
	signature, err2 := base64.RawURLEncoding.DecodeString(text[at+1:])
	if err != nil || err2 != nil || json.Unmarshal(raw, &t) != nil {
		return t, false
	}
	key, err := nkeys.FromPublicKey(t.Issuer)
	return t, err == nil && nkeys.IsValidPublicServerKey(t.Issuer) && key.Verify([]byte(text[:at]), signature) == nil
}

// planAnswer draws how and when a question is answered. A client that is to be refused gets nothing right.
func (n *node) planAnswer(q *inquiry) {
	s, c := &n.service, q.client
	k := decision.Key{Kind: decision.SimFault, Actor: c.actor, Purpose: serviceLies, N: q.dial<<8 | uint64(c.asked&0xff)}
	switch {
	case c.dial == q.dial && c.fatal:
		k.Purpose = serviceWrong
		q.answer = firstWrong + answerKind(n.w.source.Below(k, uint64(numAnswers-firstWrong)))
	case !n.w.faults.over && n.w.source.Chance(k, n.w.cfg.callout.trouble):
		k.Purpose = serviceHow
		q.answer = answerKind(n.w.source.Pick(k, answerWeights[:]))
		n.w.struck++
	}
	if s.hung && !n.w.faults.over {
		q.answer = answerNever
	}
	n.w.note(n.index, "the service is asked about "+c.name()+", and answers "+answerNames[q.answer])
	k.Kind, k.Purpose = decision.SimDetail, serviceWait
	wait := millisecond << n.w.source.Below(k, 7) / 2
	switch q.answer {
	case answerNever:
		return
	case answerSlow:
		wait = schedule.Time(n.w.cfg.engine.AuthTimeout) / 4
	case answerLate:
		wait = schedule.Time(n.tooLate())
	}
	n.serviceIn(wait, serviceAnswer+uint64(len(s.asked))-1)
}

// tooLate is after how long, on the server's clock, no answer counts, whatever a reload has made of auth_timeout.
func (n *node) tooLate() time.Duration { return reloadFactor*n.w.cfg.engine.AuthTimeout + calloutGrace }

// answerInquiry gives an answer that is due, inside a turn.
func (n *node) answerInquiry(what uint64) {
	s := &n.service
	q := s.asked[what-serviceAnswer]
	if q.stay != s.stays || s.hung {
		return
	}
	now, _ := n.Now()
	if short := n.tooLate() - time.Duration(now-q.heardAt); q.answer == answerLate && short > 0 {
		n.serviceIn(schedule.Time(max(short, 100*time.Millisecond)), what)
		return
	}
	first, second := n.composeAnswer(q)
	if q.firstAt == 0 {
		q.firstAt, q.right = max(now, 1), q.answer < firstWrong
	}
	out := s.append(n, nil, q, first)
	if second != "" {
		out = s.append(n, out, q, second)
	}
	n.flood()
	n.eng.Received(s.id, out)
}

// flood has the service ask for more than the server has room for, just before an answer of its own and a question of the
// listener's: both must find room all the same. Nobody waits for what is answered to the flood.
func (n *node) flood() {
	times := n.w.cfg.callout.flood
	if times == 0 {
		return
	}
	n.eng.Received(n.service.id, bytes.Repeat([]byte("PUB $SYS.REQ.USER.INFO _F 0\r\n\r\n"), times))
	n.listenerDoes(listenerAsk)
}

// composeAnswer makes an answer, and what follows it; empty: nothing does.
func (n *node) composeAnswer(q *inquiry) (first, second string) {
	s, x := &n.service, n.w.cfg.callout
	account, may := q.client.place()
	user := token{Subject: q.user, Audience: account, Nats: userToken(may)}
	answer := token{Subject: q.user, Audience: q.server}
	by, userBy := x.issuer, x.issuer
	switch q.answer {
	case answerOtherUser:
		user.Subject = x.other.public
	case answerOtherName:
		answer.Subject = x.other.public
	case answerServer:
		answer.Audience = newSigner(nkeys.PrefixByteServer, 9).public
	case answerSigner:
		by = x.liar
	case answerForged:
		by, answer.Issuer = x.liar, x.issuer.public
	case answerUser:
		userBy = x.liar
	case answerExpired:
		answer.Expires = 1
	case answerOldUser:
		user.Expires = 1
	case answerNowhere:
		user.Audience = "nowhere"
	case answerNonsense:
		return "nonsense", ""
	case answerFormer:
		if s.given != "" {
			return s.given, ""
		}
	}
	answer.Nats = answerClaims{User: userBy.sign(user), Type: "authorization_response", Version: 2}
	right := by.sign(answer)
	if q.answer < firstWrong {
		s.given = right
	}
	answer.Nats = answerClaims{Error: "go away", Type: "authorization_response", Version: 2}
	switch q.answer {
	case answerTwice:
		return right, right
	case answerError, answerFormer:
		return by.sign(answer), ""
	case answerErrorOnce:
		return by.sign(answer), right
	}
	return right, ""
}

// answerClaims are those of an answer.
type answerClaims struct {
	User    string `json:"jwt,omitempty"`
	Error   string `json:"error,omitempty"`
	Type    string `json:"type"`
	Version int    `json:"version"`
}

// append appends the message with an answer, encrypted where that is agreed on.
func (s *service) append(n *node, b []byte, q *inquiry, text string) []byte {
	if x := n.w.cfg.callout; x.curve != nil {
		s.sealed++
		nonce := binary.LittleEndian.AppendUint64(make([]byte, 16, 24), s.sealed)
		sealed, err := x.curve.pair.SealWithRand([]byte(text), q.curve, bytes.NewReader(nonce))
		if err != nil {
			n.w.fail(propCallout, "an answer can't be encrypted: "+err.Error())
		}
		text = string(sealed)
	}
	b = append(append(b, "PUB "...), q.reply...)
	b = appendSize(b, len(text))
	return append(append(b, text...), "\r\n"...)
}

// undecided reports whether the server still has to decide about the connection that the question is about.
func (q *inquiry) undecided(n *node) bool {
	if q.decided {
		return false
	}
	for i := range n.conns {
		if nc := &n.conns[i]; nc.id != engine.ConnID(0) && nc.client == q.client && nc.dial == q.dial {
			return !nc.over
		}
	}
	return false
}

// serviceWords tells a decision about the service; empty: it is none.
func serviceWords(r decision.Record) string {
	question := fmt.Sprintf("question %d about connection %d", r.N&0xff, r.N>>8)
	switch {
	case r.Kind == decision.SimExtent && r.Purpose>>extentStep == serviceFate:
		return fmt.Sprintf("  the service, in second %d: detail %d, %d of %d", r.N, r.Purpose&(1<<extentStep-1), r.Value, r.Range)
	case r.Kind == decision.SimExtent && r.Purpose>>extentStep == serviceBack:
		return fmt.Sprintf("the service comes back after %v", time.Duration(millisecond<<r.Value))
	case r.Kind == decision.SimDetail && r.Purpose == serviceWait:
		return fmt.Sprintf("%s is thought about for %v", question, time.Duration(millisecond<<r.Value/2))
	case r.Kind != decision.SimFault:
		return ""
	}
	switch r.Purpose {
	case lapsesSoon:
		return fmt.Sprintf("the JWT shown on connection %d expires soon", r.N)
	case serviceFate:
		return fmt.Sprintf("the service goes, or falls silent, in second %d", r.N)
	case serviceLies:
		return question + " is not answered as it should be"
	case serviceHow:
		return question + " is answered " + nameOf(answerNames[:], r.Value)
	case serviceWrong:
		return question + " is answered " + nameOf(answerNames[:], uint64(firstWrong)+r.Value)
	}
	return ""
}
