// Package tree checks the text of every file of the repository, Go or not: no paths of somebody's
// machine, no open TODO without an issue number.
//
// It reads the tree as it lies on disk, without what version control and builds leave there.
package tree
