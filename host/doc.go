// Package host is the real world of an engine: sockets, threads, the wall clock, the log.
//
// On Linux one locked thread runs an epoll loop (epoll_linux.go): it reads what is ready into one shared buffer, hands it
// to the engine and, at the end of the turn, writes each touched connection once. Elsewhere, and on Linux on request, a
// portable loop (portable.go) does the same with net.Conn and two goroutines per connection. Both drive the same engine;
// everything that decides anything is in there. Both are fair: a turn reads a bounded number of bytes, from each
// connection at most one buffer, and those not reached go first in the next.
//
// TLS runs at the edge (tls.go, edge_linux.go, portable_tls.go): the loop exchanges plaintext with other threads through
// queues that are bounded both ways. What certificates are shown and demanded is in package tlsconf.
//
// What comes from other threads (signals, finished jobs, monitoring queries) enters through an inbox (inbox.go) and is
// told to the engine inside a turn like everything else. Jobs (jobs.go) leave one core to the loop. Monitoring over HTTP
// (monitor.go) asks the engine queries; its answers are nats-server's to the field. Read server.go first.
package host
