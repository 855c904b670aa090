package engine

import "github.com/natsd/natsd/sublist"

// globalAccount is the account of everybody who names none.
const globalAccount = "$G"

// account is a subject space of its own: what is published in it reaches its subscriptions and no others.
type account struct {
	name string
	subs *sublist.Sublist[*subscription]
}

func newAccount(name string, cache int, seed uint64) *account {
	return &account{name: name, subs: sublist.New[*subscription](sublist.Options{CacheSize: cache, Seed: seed})}
}

// subscription is one SUB of one connection.
type subscription struct {
	conn   *conn
	sid    []byte // owned
	handle sublist.Handle[*subscription]
	index  int // in conn.subs

	delivered uint64
	max       uint64 // ends after so many deliveries; 0: never
	// dead: no longer to be delivered to, though a match made earlier may still name it.
	dead bool
}
