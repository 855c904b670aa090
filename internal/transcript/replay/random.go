package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/natsd/natsd/internal/transcript"
)

// randomScripts sends the same random commands to both servers, one connection per script, and reports how many were
// answered differently. The seed makes the scripts, so a difference can be looked at again.
func randomScripts(o *options, seed uint64, count int) (differences int, err error) {
	first, err := startServer(o.server, nil, "")
	if err != nil {
		return 0, err
	}
	defer first.stop()
	second, err := startServer(o.peer, nil, "")
	if err != nil {
		return 0, err
	}
	defer second.stop()
	first.silence, second.silence = recordSilence, recordSilence
	for i := range count {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		sc := randomScript(r, seed, i)
		// The first server gets the bytes in pieces, since it must not matter.
		a, err := transcript.Run(sc, first, r.IntN(8))
		if err != nil {
			return differences, err
		}
		b, err := transcript.Run(sc, second, 0)
		if err != nil {
			return differences, err
		}
		if canonical(a[0]) != canonical(b[0]) {
			differences++
			fmt.Printf("%s: %s\n\tserver %s\n\tpeer   %s\n",
				sc.Name, transcript.Quote(sc.Steps[1].Data), summary(a[0]), summary(b[0]))
		}
	}
	return differences, nil
}

// explained are the words that natsd says where nats-server closes in silence.
var explained = regexp.MustCompile(`-ERR '(Parser Error|message headers not supported)'\r\n$`)

// unanswered is a 503, which goes to any one of the subscriptions to the reply subject.
var unanswered = regexp.MustCompile(`HMSG (\S+) \S+ (\d+ \d+\r\nNATS/1\.0 503\r\nNats-Subject)`)

// canonical makes answers comparable: without what differs deliberately, and with the lines of one message's copies in
// one order, since servers are free to choose among subscriptions.
func canonical(r transcript.Recording) string {
	data := slices.Clone(r.Data)
	data = explained.ReplaceAll(data, nil)
	data = unanswered.ReplaceAll(data, []byte("HMSG $1 * $2"))
	var lines []string
	for line := range bytes.Lines(data) {
		lines = append(lines, string(line))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines, r.Ended)
}

// The vocabulary of random scripts. A second CONNECT is left out: it loses subscriptions in nats-server.
var (
	greetings = []string{
		`CONNECT {"verbose":false}`, `CONNECT {}`, `CONNECT {"verbose":false,"pedantic":false}`, `PING`,
		`CONNECT {"verbose":false,"headers":true,"no_responders":true}`, `CONNECT {"verbose":false,"echo":false}`,
		`CONNECT {"verbose":false,"headers":true,"no_responders":true,"echo":false,"pedantic":false}`,
	}
	subjects = []string{
		"a", "b", "a.b", "a.b.c", "*", ">", "a.*", "a.>", "*.b", "a.*.c", "a..b", ".a", "a.", "a*", "a.>.c", "in", "in.x", "in.*",
		"$SYS.a", "\u00e9", "a.b*", "*a", ">a", "a.>b", "..", "*.*", "*.>", "a\x01",
	}
	sids   = []string{"1", "2", "3", "x", "1", "2"}
	maxima = []string{"0", "1", "2", "-1", "x", "007", "1234567890"}
	spaces = []string{" ", " ", " ", " ", " ", "  ", "\t", " \t "}
	ends   = []string{"\r\n", "\r\n", "\r\n", "\r\n", "\n", " \r\n"}
	sizes  = []string{"-1", "x", "00", "1048577", "9999999999", "+1", ""}
	blocks = []string{"NATS/1.0\r\n\r\n", "NATS/1.0\r\nA: b\r\n\r\n", "", "zz", "NATS/1.0 503\r\n\r\n", "NATS/1.0\r\n"}
	odd    = []string{"PONG", "+OK", "INFO {}", "-ERR x", "MSG a 1 1", "", " ", "PUBS a 1", "SU", "PING x", "unsub 1", "UNSUB 1 2 3", "SUB a", "PUB a b c 1"}
)

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

// randomScript is a scenario of one connection that sends up to a dozen commands. It ends its direction, so that the
// server ends the other one when it has answered all: whether it did so before shows in the last PONG.
func randomScript(r *rand.Rand, seed uint64, number int) *transcript.Scenario {
	data := pick(r, greetings) + "\r\n"
	for range 1 + r.IntN(12) {
		data += randomCommand(r)
	}
	data += "PING\r\n"
	return &transcript.Scenario{
		Name: "seed " + strconv.FormatUint(seed, 10) + " script " + strconv.Itoa(number),
		Steps: []transcript.Step{
			{Op: transcript.OpConnect, Conn: "A"},
			{Op: transcript.OpSend, Conn: "A", Data: []byte(data)},
			{Op: transcript.OpHalfClose, Conn: "A"},
			{Op: transcript.OpRecord, Conn: "A"},
		},
	}
}

func randomCommand(r *rand.Rand) string {
	space, end := pick(r, spaces), pick(r, ends)
	switch n := r.IntN(100); {
	case n < 30:
		return "SUB" + space + pick(r, subjects) + space + pick(r, sids) + end
	case n < 35:
		// A queue name of its own, so that no server has a choice between members.
		return "SUB" + space + pick(r, subjects) + space + "q" + strconv.Itoa(r.IntN(1000)) + space + pick(r, sids) + end
	case n < 45:
		return "UNSUB" + space + pick(r, sids) + end
	case n < 53:
		return "UNSUB" + space + pick(r, sids) + space + pick(r, maxima) + end
	case n < 80:
		payload := "abcdefgh"[:r.IntN(9)]
		return "PUB" + space + pick(r, subjects) + randomReply(r, space) + space + randomSize(r, len(payload)) + end + payload + "\r\n"
	case n < 92:
		payload := "abcdefgh"[:r.IntN(9)]
		block := pick(r, blocks)
		return "HPUB" + space + pick(r, subjects) + randomReply(r, space) + space + randomSize(r, len(block)) + space +
			randomSize(r, len(block)+len(payload)) + end + block + payload + "\r\n"
	case n < 97:
		return "PING" + end
	}
	return pick(r, odd) + end
}

func randomReply(r *rand.Rand, space string) string {
	if r.IntN(2) == 0 {
		return ""
	}
	return space + pick(r, subjects)
}

// randomSize is the right size, mostly.
func randomSize(r *rand.Rand, n int) string {
	if r.IntN(40) == 0 {
		return pick(r, sizes)
	}
	return strconv.Itoa(n)
}
