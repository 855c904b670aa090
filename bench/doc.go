// Command bench measures a NATS server from outside, over the raw protocol.
//
// It starts the server binary it is given as a child process, puts one load
// after another on it and prints, for each scenario, messages per second, the
// CPU time the server spent per message and its resident memory. With -peer it
// measures a second server in alternation with the first, in one run, and
// prints the median of the ratios of each pair, which cancels most of what a
// busy machine does to absolute figures.
//
// What is counted. In scenarios with subscribers a message is one delivery: a
// message received by one subscriber. Without subscribers it is one publish the
// server has handled, known from the PONG that follows each block. In
// request/reply it is one request together with its reply.
//
// How it stays cheap. One thread drives every connection through epoll.
// Publishers write large blocks of PUB lines built beforehand. All messages of
// a scenario have the same size on the wire, so that receivers count bytes; the
// kernel drops them (MSG_TRUNC) without copying them to the process. That this
// is sound is checked in every run: the first block is received and compared
// byte for byte, and the totals must come out exactly at the end.
//
// Pacing. Publishers go on for as long as what they have sent and what has been
// received differ by less than a window, which is large enough never to run dry
// and small enough that no server has a reason to drop a slow consumer.
//
// It never decides whether a server is correct beyond these checks, and it runs
// on Linux only. Read scenario.go first, then flow.go.
package main
