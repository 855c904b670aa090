// Command natsdlint runs the repository's own checks over Go packages, and over all files of a tree.
//
//	natsdlint ./...        determinism, names, imports, house style, and analyzers from elsewhere
//	natsdlint tree <dir>   the text of every file below dir
//
// It exits with 1 when it has something to report, with 2 when it could not look: packages that do
// not compile are reported as such, and the others are looked at all the same.
package main
