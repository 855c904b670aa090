package maporder

import (
	"maps"
	walk "maps"
	"slices"
)

type index map[string]int

type clock struct{ subs index }

func order(m map[string]int, c *clock) []string {
	var keys []string
	for k := range m { // want `D4: range over a map`
		keys = append(keys, k)
	}
	for range c.subs { // want `D4: range over a map`
	}
	keys = slices.Collect(maps.Keys(m)) // want `D4: maps.Keys walks in map order`
	for range walk.Values(m) {          // want `D4: maps.Values walks in map order`
	}
	all := maps.All[index]                      // want `D4: maps.All walks in map order`
	maps.DeleteFunc(m, func(string, int) bool { // want `D4: maps.DeleteFunc walks in map order`
		return false
	})
	for range all(c.subs) {
	}
	return keys
}

func generic[M ~map[K]V, K comparable, V any](m M) {
	for range m { // want `D4: range over a map`
	}
}

func inTotalOrder(m map[string]int, list []int) []string {
	for range list {
	}
	for range 3 {
	}
	clear(m)
	return slices.Sorted(maps.Keys(m))
}
