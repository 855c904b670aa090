// Package host is the real world of an engine: sockets, threads, the wall clock, the log.
//
// On Linux one locked thread runs an epoll loop (epoll_linux.go): it reads what is ready into one shared buffer, hands it
// to the engine and, at the end of the turn, writes each touched connection once. Elsewhere, and on Linux on request, a
// portable loop (portable.go) does the same with net.Conn and two goroutines per connection. Both drive the same engine;
// everything that decides anything is in there.
//
// What comes from other threads (signals, finished jobs, monitoring queries) enters through an inbox (inbox.go) and is
// told to the engine inside a turn like everything else. Read server.go first.
package host
