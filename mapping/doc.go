// Package mapping rewrites subjects: account mappings, the transforms of
// imports, and those of streams (ADR-30).
//
// A Transform has a source, a pattern whose wildcards capture tokens, and a
// destination, a template made of literal tokens and of
//
//	$1, {{wildcard(1)}}      the token that the first "*" captured
//	{{partition(n,1,2)}}     a number below n from the hash of these tokens
//	{{partition(n)}}         the same of the whole subject
//	{{random(n)}}            a random number below n
//	{{split(1,-)}}           the token cut at each "-", empty pieces left out
//	{{splitfromleft(1,3)}}   the token cut in two, three bytes from the left
//	{{splitfromright(1,3)}}  and from the right
//	{{slicefromleft(1,3)}}   the token cut every three bytes, from the left
//	{{slicefromright(1,3)}}  and from the right
//	{{left(1,3)}}            the first three bytes of the token
//	{{right(1,3)}}           the last three
//	>                        what the source's ">" captured
//
// The initial of each word of a function's name may be upper or lower case.
// What a function does with odd arguments (a count of zero or less, an index of
// zero), which texts are functions at all, and the texts of the errors are
// those of nats-server 2.15.2: testdata of the tests is what that server did.
//
// A Weighted has several destinations for one source, chosen by weight, other
// ones for each cluster. A Table holds the mappings of an account: the first
// one whose source matches applies, once.
//
// Compile allocates; Apply does not, but for growing the slice it is given.
// There is no chance here: callers pass the random number that decides between
// destinations and inside random(n).
//
// Start with transform.go, then compile.go and function.go.
package mapping
