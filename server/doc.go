// Package server is natsd as a library: a server in another Go program, or several. Start starts one with the flags and
// configuration files of the program; Main is the program itself. Tests are better served by package natsdtest, which ends
// servers with their test and shows their log in it; it is a package of its own because it needs testing and the client
// library, which a program that serves should not carry.
//
// server.go has the life of a server, config.go and flags.go where its settings come from, reload.go how they change,
// signals_unix.go and signalcmd.go how it is told to, files.go what it leaves in the file system.
package server
