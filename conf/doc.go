// Package conf reads the configuration language of nats-server: keys and values with "=", ":" or nothing between, blocks,
// arrays, comments, includes, variables, block strings, sizes with units, dates. It gives a tree of values with their places;
// what the keys mean is the business of package config.
//
// Parse never stops at the first mistake: a Report collects all of them, each with file, line and column, and goes on behind
// the entry that is wrong. It ends on every input: nesting, includes and the size of the tree that variables unfold to are
// bounded.
//
// The package opens no files and reads no environment: Reader has functions for that. Digest is the fingerprint of a
// configuration that nats-server prints too.
//
// Where nats-server takes text and drops it (a stray brace, what follows a single slash, a value that is missing), this
// package reports a mistake instead; testdata/README.md lists what differs.
//
// Read value.go first, then parse.go.
package conf
