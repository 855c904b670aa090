// Package house checks the style rules that a machine can check, in every room:
//
//   - files of at most 800 lines, test files 1,200; functions of at most 70 lines   (lengths.go)
//   - a doc.go with the package comment, doc comments on exported names             (docs.go)
//   - no t.Skip without a reason, no sleeping tests                                 (tests.go)
//   - no error thrown away without a word about why, no dot imports                 (code.go)
//
// lint/longfuncs.txt may allow a function more lines, with a reason, and only ever fewer.
package house
