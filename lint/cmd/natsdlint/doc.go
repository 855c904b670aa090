// Command natsdlint runs the repository's own checks over Go packages, and over all files of a tree.
//
//	natsdlint ./...        determinism, names, imports, house style, and analyzers from elsewhere
//	natsdlint tree <dir>   the text of every file below dir
//
// It exits with a status other than 0 when it has something to report.
package main
