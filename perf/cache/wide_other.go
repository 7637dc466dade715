//go:build !amd64

package cache

// wide reports whether fetchWide is for sets of so many places: there is none.
func wide(uint64) bool { return false }

func fetchWide(set []tag, want, mark tag) (held bool, victim tag) {
	return fetchOrdered(set, want, mark)
}
