package subject

import (
	"presage/perf/store"
)

// StoreOrDefault returns st, or the default store for nil.
func StoreOrDefault(st *store.Store) (*store.Store, error) {
	if st != nil {
		return st, nil
	}
	return store.Default()
}
