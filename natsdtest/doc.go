// Package natsdtest runs natsd inside a Go test: on a free port, with its log in the test's, and gone when the test is over.
//
// It is apart from package server because it needs testing and the client library, which a program that serves should not
// carry. As many servers as wanted may run in one process.
package natsdtest
