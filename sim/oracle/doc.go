// Package oracle judges what a core NATS server delivered, from what its clients wrote and read.
//
// It is told a history, call by call, in the order of simulated time: connections opened and ended, subscriptions and
// publishes written, pings written and pongs read, messages read. It knows nothing of the server's inside. For each
// publish and each subscription it derives whether the message must, may or must not be delivered, and checks all three,
// with at most once, order, integrity, the group rule of queues and the answer to requests that nobody takes.
//
// # What is certain
//
// A server handles what one connection wrote in the order in which it was written, each thing as if at one moment; only a
// publish may take longer, since it may have many receivers, but who they are is settled when it begins. When a write was
// handled is not seen, but bounded. It was not before it was written. It was by the time something proves it: a pong for a
// later ping of that connection, or a message that could not have come without it. A write is called proven from then on.
// (A message proves what precedes its own publish, and that this one has begun.) The pong has a second meaning: all that
// the server had queued for that connection when it handled the ping has been read before it. A connection that has read
// a pong is fenced up to the ping.
//
// A subscription is certain of a publish when its SUB was proven before the publish was written (or comes before it on
// the same connection) and no UNSUB was written before the publish was proven. The message must have been read when the
// subscription's connection is fenced by a ping written after the publish was proven. A message must not be read that
// was proven before the SUB was written, or written after the UNSUB was proven. All between is a may.
//
// The life of a connection needs no certainty of its own: a pong that is read proves that it was alive. What is owed to
// a connection that ends is forgiven, except a hole in what it did read.
//
// # How to tell it
//
// Call Publish, Subscribe, Unsubscribe and Ping before the first byte is handed to the network, and in the order of the
// bytes. Number the publishes of a connection upwards and put the connection's ID and the number in the message, so that
// it can be recognised. Call End when the client stops reading, for whatever reason, and Gone when the server has given
// the connection up: it handles nothing more from it, delivers nothing more of it, and queues nothing more for it. Without
// Gone the oracle must assume that the server still believes in the connection, which excuses queue groups and requests.
//
// A sid is not used again within a connection unless its subscription was proven to be over. A SUB for a sid in use is
// to have no effect.
//
// One Oracle judges one server. It looks at each publish once per subscription that it matches, and forgets it when
// nothing lawful can come of it any more.
//
// Read first: api.go, then record.go (what is known of a publish), publish.go and receive.go.
package oracle
