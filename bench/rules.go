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
	// withHashes has one user whose password is stored as nats-server's tools
	// store it, by bcrypt with a cost of 11. (The password is not the one that
	// the flood tries.)
	withHashes = `
authorization {
  users = [
    {user: ready, password: bench}, {user: requester, password: bench}, {user: responder, password: bench},
    {user: victim, password: "$2a$11$.kEdwPgYehr.jvLx/hqQO.snTz8WOV8H5QQ8b3Oyr3uTi3oEh5Aiq"}
  ]
}
`
)

// contenders returns who is measured under the scenario, of the server and its
// peer, if there is one.
func (sc scenario) contenders(all []contender) []contender {
	if sc.rules == "" {
		return all
	}
	var list []contender
	for _, c := range all {
		c.program.rules = sc.rules
		list = append(list, c)
	}
	if sc.itself {
		list = []contender{list[0], all[0]}
		list[0].name += " with rules"
	}
	return list
}
