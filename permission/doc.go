// Package permission decides what a connection may publish, subscribe to and
// be given.
//
// A Spec has the lists as an administrator wrote them; Compile turns it into a
// Set, which never changes and is shared by all connections of a user. The
// questions are answered from tries of tokens, without allocating, in time that
// does not grow with the lists but for subscriptions whose wildcards meet many
// rules.
//
// # Rules
//
// A list that is missing or empty says nothing: an allow list then allows
// everything, a deny list denies nothing. Deny beats allow.
//
// Publishing on a subject is allowed if the allow list covers it and the deny
// list does not. With response permissions, a missing allow list allows
// nothing; what is refused may still be a response, see Grants.
//
// A subscription is accepted only if every subject that it can match is
// allowed, be it by several rules together ("*" and "*.>" allow ">"), and it is
// refused if everything it can match is denied. In between, where a deny covers
// a part of it, the Verdict is Filtered: it is accepted, and each message must
// be asked about by MayDeliver before it is delivered.
//
// Rules for subscriptions may name queue groups, "subject queue", both with
// wildcards. In an allow list, a rule with a queue allows that subject to
// members of these groups only, and wherever such a rule matches a subject, it
// takes away from the other groups what a plain rule gives them: with "foo" and
// "foo v1", members of v1 and plain subscribers may have foo, members of v2 may
// not. In a deny list a rule with a queue speaks of members of these groups
// alone, and a plain one of everybody.
//
// # Against nats-server 2.15.2
//
// Its lists have the same language and defaults. It accepts some subscriptions
// that are wider than the allow list, since it matches a wildcard subscription
// as if it were a subject: with "foo.*" allowed it accepts "foo.>" and delivers
// foo.a.b; with ">" and "foo v1" allowed it lets group v2 have foo by ">".
// For the same reason it refuses "foo.>" where "foo.*" is denied. Here the rule
// above holds throughout.
//
// # On the wire
//
// A refusal is told to the client, which stays connected, with the subject
// quoted as Go quotes strings; see AppendPublishViolation and
// AppendSubscribeViolation:
//
//	-ERR 'Permissions Violation for Publish to "x"'
//	-ERR 'Permissions Violation for Subscription to "x"'
//	-ERR 'Permissions Violation for Subscription to "x" using queue "q"'
//
// Nothing is said of messages that are filtered out.
//
// Start with spec.go and set.go, then tree.go and cover.go.
package permission
