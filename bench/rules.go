//go:build linux

package main

// The configurations under which a server is compared with itself without one.
const (
	// withPermissions has users that may do some things and not others.
	withPermissions = `
authorization {
  default_permissions {
    publish { allow: ["bench.>", "other.*"], deny: ["bench.secret.>"] }
    subscribe { allow: ["bench.>", "other.*"], deny: ["bench.secret.>"] }
  }
  users = [ {user: ready, password: bench}, {user: publisher, password: bench}, {user: subscriber, password: bench} ]
}
`
	// withDenial has a subscriber that is not to get all that its subscription
	// matches: each delivery is looked at.
	withDenial = `
authorization {
  default_permissions { subscribe { deny: ["bench.secret.>", "bench.other"] } }
  users = [ {user: ready, password: bench}, {user: publisher, password: bench}, {user: subscriber, password: bench} ]
}
`
	// withImport has the publisher in one account and the subscriber in another
	// one that imports its messages.
	withImport = `
accounts {
  P {
    users = [ {user: ready, password: bench}, {user: publisher, password: bench} ]
    exports = [ {stream: "bench.>"} ]
  }
  S {
    users = [ {user: subscriber, password: bench} ]
    imports = [ {stream: {account: P, subject: "bench.>"}} ]
  }
}
`
)

// withRules returns the contender with a configuration and without.
func (c contender) withRules(rules string) []contender {
	with := c
	with.name += " with rules"
	with.program.rules = rules
	return []contender{with, c}
}
