// Package conf reads the configuration language of nats-server: keys and values with "=", ":" or nothing between, blocks,
// arrays, comments, includes, variables, sizes with units. It gives a tree of values with their positions; what the keys
// mean is the caller's business. Errors name file, line and column.
//
// The package opens no files and reads no environment: Reader has functions for that.
package conf
