// Package netsim is the simulated network: hosts, listeners and connections that carry bytes in simulated time.
//
// It models byte streams as two kernels and a path between them would make them, not packets: a bounded send buffer, a
// bounded receive buffer, flow control between the two, latency, jitter, bandwidth, segments cut anywhere and merged
// again, stalls, resets, ends that vanish without a word, half-close, partitions in one or both directions, hosts that
// lose their process, their power or their time. Every choice it makes is a decision (package sim/decision) keyed by the
// connection and the place in its stream, so removing one client, connection or fault leaves the choices of all others
// as they were.
//
// A Net is one world of hosts. A Host is a machine with an address; what happens to it is told to its Sink, always from
// the event queue (package sim/schedule), never from inside a call of this package. The Host of a simulated server is
// the engine's Network: the sink binds each accepted Conn to the ConnID that the engine gave it, when it gets to it.
//
// Reading is pulled, as from a kernel: Readable says that bytes came, Read takes as many as the owner wants at the
// moment it wants them, and what is not read closes the window to the peer. A paused process is therefore simply an
// owner that does not read; its kernel goes on receiving until the buffers are full.
//
// No bytes are ever shared: Send copies them in, Read copies them out. With the zero Config nothing goes wrong, nothing
// takes time, nothing is cut and no choice is made.
//
// Read first: sink.go (what is told), conn.go (what can be asked of a connection), stream.go (how bytes move).
package netsim
