// Package subject knows the grammar of NATS subjects.
//
// A subject is a sequence of tokens joined by dots. Two tokens are special in a
// subscription: a token that is exactly "*" stands for any one token, and a
// final token that is exactly ">" stands for one or more. Everywhere else the
// characters "*" and ">" are ordinary, so "foo*", "a>b" and "**" are literal
// tokens. A subject that a message travels on is a literal: it has neither
// special token. A subject that a subscription names is a pattern; every
// literal is also a pattern, which matches itself alone.
//
// Tokens are never empty and hold no space, tab, carriage return or line feed.
// Any other byte is allowed, control characters and malformed UTF-8 included,
// and subjects are compared byte by byte, without normalisation.
//
// A server does not insist on a literal to publish on: to a client that did not
// ask for pedantry the characters "*" and ">" mean nothing in a published
// subject, so "foo.*" reaches subscribers to "foo.*" and not those to "foo.bar".
// Match follows that. A published subject with an empty token reaches nobody.
//
// The functions are pure, allocate nothing, keep no reference to their
// arguments and take time linear in the arguments' length. They accept strings
// and byte slices alike.
//
// Start with check.go for what is valid and match.go for what matches.
package subject
