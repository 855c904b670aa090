package monitor

// defaultLimit is how many entries a page has where nothing is said.
const defaultLimit = 1024

// bounds are offset and limit as they are used: negative ones count as absent.
func bounds(offset, limit int) (from, most int) {
	if limit <= 0 {
		limit = defaultLimit
	}
	return max(offset, 0), limit
}

// cut is a page of all.
func cut[T any](all []T, offset, limit int) []T {
	if offset >= len(all) {
		return []T{}
	}
	return all[offset:][:min(limit, len(all)-offset)]
}
