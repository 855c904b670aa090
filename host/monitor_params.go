package host

import (
	"fmt"
	"net/url"
	"strconv"
)

const defaultLimit = 1024 // connections or subscriptions on a page

// page reads offset and limit. Negative ones count as absent.
func page(q url.Values) (offset, limit int, err error) {
	if offset, err = number(q, "offset"); err != nil {
		return 0, 0, err
	}
	if limit, err = number(q, "limit"); err != nil {
		return 0, 0, err
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	return max(offset, 0), limit, nil
}

// slice cuts the page out of all.
func slice[T any](all []T, offset, limit int) []T {
	if offset >= len(all) {
		return []T{}
	}
	return all[offset:][:min(limit, len(all)-offset)]
}

// number reads an integer; 0 where there is none.
func number(q url.Values, name string) (int, error) {
	v := q.Get(name)
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, decodeError("int", name, err)
	}
	return n, nil
}

// flag reads a truth value; false where there is none.
func flag(q url.Values, name string) (bool, error) {
	v := q.Get(name)
	if v == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		return false, decodeError("boolean", name, err)
	}
	return on, nil
}

func decodeError(kind, name string, err error) error {
	return fmt.Errorf("error decoding %s for '%s': %w", kind, name, err)
}
