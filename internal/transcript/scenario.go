package transcript

import (
	"regexp"
	"time"
)

// Scenario is one conversation. Its steps happen one after the other.
type Scenario struct {
	Name   string
	File   string
	Line   int // of the scenario's first line in File, from 1
	Config []Setting
	// Whole says that every send has to reach the server in one piece, because what the server does depends on it or
	// because its size makes single bytes too slow.
	Whole bool
	// WholeForPeer says that nats-server's answer depends on how the bytes are cut, for which there is no reason:
	// natsd's must not, and is always what nats-server says to sends in one piece.
	WholeForPeer bool
	// Conf is text of a configuration file, besides the settings of Config.
	Conf  string
	Steps []Step
}

// Setting is one server option, named as in a configuration file.
type Setting struct {
	Key, Value string
}

// Dialect names the server that a step is about.
type Dialect int

// Most steps are about both servers. The others are natsd's deliberate differences.
const (
	Both Dialect = iota
	Natsd
	NatsServer
)

// For returns the scenario as it goes for one of the servers: without the steps that are about the other one.
func (sc *Scenario) For(d Dialect) *Scenario {
	own := *sc
	own.Steps = nil
	for _, step := range sc.Steps {
		if step.Only == Both || step.Only == d {
			step.Only = Both
			own.Steps = append(own.Steps, step)
		}
	}
	return &own
}

// Op says what a step does.
type Op int

// The operations. Those from ExpectBytes to Record are expectations about what a connection receives.
const (
	OpDial       Op = iota // connect and leave what the server says to the following steps
	OpConnect              // connect and take the server's first INFO line away
	OpRefused              // connecting must fail
	OpSend                 // Data goes to the server
	OpHalfClose            // the client sends no more, but still reads
	OpLeave                // the client closes the connection
	OpAdvance              // Duration passes
	OpSignal               // the operator's Signal: TERM, INT or USR2
	OpExit                 // the server must have ended with Status
	OpExpect               // the next bytes are Data
	OpExpectLine           // the next line, without CRLF, matches Pattern
	OpExpectAll            // the next bytes are the Choices in any order
	OpExpectOne            // the next bytes are one of Choices
	OpClosed               // the server ends the connection, without another byte
	OpCut                  // the server ends the connection, after any bytes
	OpSilent               // nothing arrives
	OpRecord               // whatever arrives is welcome; a recording run writes it down
)

// Step is one line of a scenario. Which fields count depends on Op. Nothing in it may be changed after Parse.
type Step struct {
	Line     int // in the file, from 1
	Only     Dialect
	Op       Op
	Conn     string // the connection's name, if the step concerns one
	Window   int    // OpDial, OpConnect: bytes the client takes without reading; 0 for the world's default
	Data     []byte
	Choices  [][]byte
	Pattern  *regexp.Regexp
	Duration time.Duration
	Signal   string
	Status   int
}

// expects reports whether the step is a statement about what a connection receives.
func (s *Step) expects() bool { return s.Op >= OpExpect }
