// Command replay plays transcripts against a server binary over real sockets.
//
//	go run ./internal/transcript/replay -server BINARY engine/testdata/protocol/*.txt
//
// Every scenario gets a server of its own, started on a free port of 127.0.0.1 with the scenario's configuration, and is
// played twice: with each send in one piece, and byte by byte. What fails is tried once more, since real time has its
// hiccups; what fails again is printed as file:line, and makes the exit status 1.
//
// With -record, the lines "A ?" of the files are replaced by what the server sent there. With -peer BINARY, nothing is
// held against the transcripts' expectations: both servers get the same bytes, and what they answer is compared. With
// -random N besides, the bytes are N scripts made from -seed instead of files.
//
// The program trusts the binary and the files it is given. It needs nothing else: no network but 127.0.0.1, no files but
// a temporary directory per server.
package main
