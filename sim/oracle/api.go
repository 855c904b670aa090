package oracle

import "fmt"

// ID names a connection in the messages it publishes. No two connections of a run have the same.
type ID uint64

// IDOf is the ID of a client's connection: the client, and how many it had before.
func IDOf(client, epoch uint32) ID { return ID(uint64(client)<<32 | uint64(epoch)) }

// Client is the client's index.
func (i ID) Client() uint32 { return uint32(i >> 32) }

// Epoch counts the client's connections from 0.
func (i ID) Epoch() uint32 { return uint32(i) }

// String names the connection in failures.
func (i ID) String() string { return fmt.Sprintf("client %d.%d", i.Client(), i.Epoch()) }

// ConnOptions are what a connection said in its CONNECT.
type ConnOptions struct {
	Echo         bool // it gets its own messages
	NoResponders bool // it wants to be told of requests that nobody gets
	Headers      bool // it gets headers
	// User is who it is, where there are accounts.
	User string
}

// Message is what a client read. Subject and Reply are borrowed until the call returns.
type Message struct {
	SID     uint64
	Subject []byte
	Reply   []byte
	From    ID     // the publisher, as the payload has it
	N       uint64 // the publish, as the payload has it
	// Info is what a header in front of the payload tells of who asked, as services in other accounts are told; nil: there is
	// none. Intact does not count it.
	Info   *Info
	Intact bool // headers and payload are those of that publish, byte for byte, as this receiver should see them
}

// Info is what a service is told of who asks.
type Info struct {
	Account string `json:"acc"`
	Service string `json:"svc"`  // the account that asks for it, which was asked itself; empty: it was not
	User    string `json:"user"` // empty: not told
	Host    string `json:"host"` // the same
}

// Failure is a broken property.
type Failure struct {
	Property string // one of the names below
	What     string
}

// The properties. Their names are stable: seeds, mutants and the shrinker refer to them.
const (
	Invented   = "invented"   // a message that nobody sent, or a pong without a ping
	Intact     = "intact"     // a message arrives as it was sent
	Matching   = "matching"   // a message only reaches subscriptions that its subject matches
	Interest   = "interest"   // no message from before the SUB or from after the UNSUB
	Echo       = "echo"       // no message comes back to a connection that wants no echo
	Max        = "max"        // auto-unsubscribe ends exactly at its number
	Once       = "once"       // a message reaches a subscription at most once
	Order      = "order"      // a publisher's messages reach a connection as published, and before the pong that follows them
	Lost       = "lost"       // a message reaches every subscription that is certain of it
	Queue      = "queue"      // a message reaches one member of a queue group: not two, and not none
	Spread     = "spread"     // the members of a queue group get about as many messages each
	Responders = "responders" // a request is answered 503 exactly if nobody got it

	Isolation   = "isolation"   // no message crosses to another account without an export and an import
	Permissions = "permissions" // no message comes from or to a user that the permissions forbid
	Mapped      = "mapped"      // a message takes one of the ways that mappings leave open
	Answers     = "answered"    // an answer crosses back to who asked, as often as the service says
	Atomic      = "atomic"      // a message is judged by one configuration
)

// Stats count what was judged.
type Stats struct {
	Published uint64 // publishes told
	Received  uint64 // messages told
	Must      uint64 // pairs of publish and subscription that had to be delivered, and were
	MustGroup uint64 // the same for queue groups
	Must503   uint64 // requests that had to be answered 503, and were
	Spreads   uint64 // times a queue group's spread was judged
	Forgiven  uint64 // pairs that were owed to connections that ended
	Held      int    // publishes that are remembered
	HeldMost  int    // the most at any time
}
