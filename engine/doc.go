// Package engine is natsd's core: connections, the client protocol, routing and limits, as one single-threaded
// deterministic state machine. It asks the world for effects through Env and is told by its methods what happened.
// Neither ever blocks. The same options, entropy and events in the same order have the same effects, byte for byte.
//
// # The duties of a host
//
// A host calls New, then runs turns until Stopped:
//
//	e := engine.New(options, env)
//	for !e.Stopped() {
//		wait until something has happened, or the moment that Clock.Wake asked for
//		e.BeginTurn()
//		e.Start() // in the first turn
//		for each thing that happened: its event
//		e.EndTurn()
//	}
//
// Everything but New, Stopped, TurnFull, Addr, TurnTook, Footprint and Marks is called between BeginTurn and EndTurn.
// When TurnFull reports true, the host ends the turn and keeps the rest of its events, in order, for the next: the engine
// takes more, but others wait longer. It is for the host to see that no connection starves: read each for a bounded
// number of bytes, and go on next time with those not reached.
//
//   - Start comes once. Network.Listen follows; it ends in ListenerUp or ListenerFailed.
//   - Accepted returns the id of a connection. All effects for the id may be asked for before it returns, when the host
//     can't know it yet: those are to be ignored, and Send to return 0. An id of zero means that the host closes the
//     connection and says no more about it.
//   - Received hands over bytes in the order in which they arrived. After PauseReading the host reads no more; what it had
//     read in that moment it may still hand over. The engine keeps it, which is why one read should be bounded.
//   - EOF tells that the peer ended its sending side, after its last byte. The engine goes on writing, and asks for Close
//     when all is written.
//   - Writable follows each Send that took less than offered, when more can be taken, once.
//   - Closed tells that a connection is lost in both directions. It is the last event for its id, and Close, where the
//     engine asks for it, is the last effect: no event for the id follows.
//   - TimerDue answers Wake. An early or a superfluous one does no harm; one that never comes does: timeouts, back-pressure
//     and work carried over to the next turn depend on it.
//   - TLSUp or Closed answers each StartTLS; no other event for the id comes before.
//   - JobDone answers each Submit, also when the connection that it was for is gone.
//   - A question (Ask) is answered once, by Monitor.Answer, in this turn or a later one. What is asked and what answers
//     look like is package monitor.
//   - Stop, LameDuck and Reload are the operator's. They may come at any time, before Start too. A Reload is in force when it
//     returns. What was published before goes on to those whom it would have reached without it, but for those who have left the
//     account, or lost the permission, and imports that are gone; to nobody else. A JWT that changes an account is not waited for
//     like that: what is under way goes to those who had subscribed when it came into their account, by the permissions and the
//     imports that are in force when their turn comes. So it may reach somebody to whom only the new JWT allows it; nobody else
//     misses it, nor does a service whose import has stayed as it was.
//
// Events for ids that are gone are ignored.
//
// # Who owns which bytes
//
// Bytes given to an event are borrowed until it returns. Buffers given to Send are borrowed until it returns: they lie in
// the engine's chunks, are used again, and a payload may be in many connections' buffers at once, so a network must not
// write to them. Answers to queries belong to the receiver. Strings may be kept.
//
// # What is bounded
//
// A turn: Options.TurnWork messages parsed or delivered, some 1 ms, with other lines, bytes written and what matching and
// passing over costs counted in the same unit; some 4 MiB written before its end and twice that at it (write.go), to 128
// connections, 2000 timers, 600 subscriptions removed, 500 monitoring entries. (A smaller TurnWork makes these smaller too.)
// A match that takes more than a sixteenth of a turn is carried out over several, all such matches together for an eighth of
// each: the message waits, and its publisher's next ones with it (search.go). What is left goes on in the next turn, which is
// asked for by Wake. Who has much to be done gets a share of it after another, an eighth at most, in turns with the others that
// have (gate.go). What Stop, LameDuck and Reload decide is in force at once; its consequences are drawn for 128 connections in a
// turn, and for others when they are about to do or to get something (sweep.go, moves.go), and for 600 of the subscriptions of
// those that have more than 32, or 75 where a client's own CONNECT or a JWT has them follow (remake.go); those that follow a
// CONNECT when something else is decided do so before that, at once where the connection is to do or to get something. A message
// whose receivers are searched for when a reload comes is read again after it; those of a request or an answer in another
// account, of what has been answered already or was allowed once, or of a publisher that has left, are found at once, as far as 32
// turns' work goes. Beyond that nobody gets them, as where 64 MiB of such messages wait, and the log says so. Before a reload it
// is found out whom the other messages under way still reach, in that turn (underway.go):
// less than 1 µs for each message, and where permissions keep subscriptions of the account from a part of what they match, some
// 10 ns for each that it reaches, once for all messages on a subject (100 messages to 100,000 each: 0.1 ms, or 3 ms where they
// are on one subject and 100 ms where each is on its own); some 3 µs for each service of another account that it goes on to. Where
// connections still follow an earlier reload, all of them do so first: who can wait does, while Following. A reload puts all
// accounts into force in one turn, some 3 µs for each and 2 µs for each service that it newly imports; Prepare makes beforehand
// what can be, on another thread. When imports have changed, 600 subscriptions in a turn get what the new ones call
// for, and those first that a message is for; one that is for more than 128 waits until all have theirs, unless 64 MiB wait
// already or imports have changed nine times meanwhile: then it takes as long as it has receivers (recast.go). 256 connections
// learn in a turn that their password was right or wrong; so many are compared at a time as Options.Checks says (checks.go).
//
// A connection: what waits to be written is at most MaxPending bytes, in chunks that are shared or, on average, half full at
// worst; of what it sent, one line as far as max_control_line counts it, a message that is not complete (up to four times
// what has arrived of it, and 4 KiB), and what two reads brought while its gate was shut (gate.go). An idle one holds no
// buffer. Its subscriptions are bounded by MaxSubscriptions, where that is set.
//
// All together: MaxConnections, and 1000 that are being turned away; 32 MiB of chunks kept for later; 64 MiB of messages
// whose delivery is under way; MatchCache results that name a million subscriptions; 10,000 closed connections with
// 256 bytes of each text that a client chose; 500 log lines a second about clients' errors, of 1 KiB each. A request gets to
// 1000 services of other accounts, and stream imports lead to an account on 1000 ways, or four times as many as there are (ways.go).
//
// # Where to read on
//
// env.go (what the engine asks for), events.go (what it is told), then along a message's way: input.go, gather.go,
// publish.go, fanout.go, deliver.go, outqueue.go, and flush in write.go. What holds a connection back is in gate.go and stall.go,
// how it ends in close.go and keepalive.go. check.go has the invariants.
package engine
