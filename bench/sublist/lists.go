package main

import (
	"reflect"
	"unsafe"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/natsd/natsd/sublist"
)

// list is one of the two under test. Subscriptions are prepared beforehand and
// then known by their numbers.
type list interface {
	prepare(subs []sub)
	insertAll(from, to int)
	removeAll(from, to int)
	matchAll(subjects [][]byte) (reached int)
	count() int
}

// own is natsd's.
type own struct {
	list    *sublist.Sublist[*ownSub]
	given   []sub
	subs    []*ownSub
	handles []sublist.Handle[*ownSub]
}

// ownSub stands for an engine's subscription.
type ownSub struct{ n int }

func newOwn() list {
	return &own{list: sublist.New[*ownSub](sublist.Options{CacheSize: sublist.DefaultCacheSize})}
}

func (o *own) prepare(subs []sub) {
	for _, s := range subs {
		o.given = append(o.given, s)
		o.subs = append(o.subs, &ownSub{len(o.subs)})
	}
}

func (o *own) insertAll(from, to int) {
	if len(o.handles) < len(o.subs) {
		// Allocated here, to be counted.
		o.handles = append(make([]sublist.Handle[*ownSub], 0, len(o.subs)), o.handles...)[:len(o.subs)]
	}
	for i := from; i < to; i++ {
		h, err := o.list.Insert(o.given[i].subject, o.given[i].queue, o.subs[i])
		if err != nil {
			panic(err)
		}
		o.handles[i] = h
	}
}

func (o *own) removeAll(from, to int) {
	for i := from; i < to; i++ {
		if !o.list.Remove(o.handles[i]) {
			panic("not there")
		}
		o.handles[i] = sublist.Handle[*ownSub]{}
	}
	if o.list.Count() == 0 {
		o.handles = nil
	}
}

func (o *own) matchAll(subjects [][]byte) (reached int) {
	for _, s := range subjects {
		r := o.list.Match(s)
		reached += len(r.Plain) + len(r.Queues)
	}
	return reached
}

func (o *own) count() int { return o.list.Count() }

// reference is nats-server's. Its type of subscription has no exported name, so
// it is a type parameter here, found by inference.
type reference[S any] struct {
	list   *server.Sublist
	insert func(*S) error
	remove func(*S) error
	subs   []*S
}

func newReference() list {
	l := server.NewSublistWithCache()
	return bind(l, l.Insert, l.Remove)
}

func bind[S any](l *server.Sublist, insert, remove func(*S) error) list {
	return &reference[S]{list: l, insert: insert, remove: remove}
}

func (r *reference[S]) prepare(subs []sub) {
	t := reflect.TypeFor[S]()
	for _, s := range subs {
		x := new(S)
		for name, value := range map[string][]byte{"subject": s.subject, "queue": s.queue} {
			f, ok := t.FieldByName(name)
			if !ok {
				panic("subscriptions have no " + name)
			}
			*(*[]byte)(unsafe.Add(unsafe.Pointer(x), f.Offset)) = value
		}
		r.subs = append(r.subs, x)
	}
}

func (r *reference[S]) insertAll(from, to int) {
	for _, s := range r.subs[from:to] {
		if err := r.insert(s); err != nil {
			panic(err)
		}
	}
}

func (r *reference[S]) removeAll(from, to int) {
	for _, s := range r.subs[from:to] {
		if err := r.remove(s); err != nil {
			panic(err)
		}
	}
}

// matched is what matchAll reads of a reference's result, whose fields have no
// exported names.
type matched struct{ plain, queues []unsafe.Pointer }

func (r *reference[S]) matchAll(subjects [][]byte) (reached int) {
	for _, s := range subjects {
		m := (*matched)(unsafe.Pointer(r.list.MatchBytes(s)))
		reached += len(m.plain) + len(m.queues)
	}
	return reached
}

func (r *reference[S]) count() int { return int(r.list.Count()) }
