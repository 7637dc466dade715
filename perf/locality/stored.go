package locality

import (
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
)

// ReuseVersion is part of the key of a stored histogram, beside the engine's
// version and the plan: raise it when the meaning of reuse.Result changes.
const ReuseVersion = 1

// carriersVersion is part of the key of histograms with carriers: raise it when
// loops, objects or sources are numbered in another way.
const carriersVersion = 4

// loopsVersion is the same of histograms with the loops alone.
const loopsVersion = 1

// storedReuse is what the store holds for one run and block size.
type storedReuse struct {
	Facts  subject.Facts
	Stack  uint64 // accesses that were left out
	Result *reuse.Result
}

func reuseKey(rec Recorded, blockBytes uint64) (store.Key, error) {
	return store.NewKey("reuse", ReuseVersion, struct {
		Recorded   Recorded
		BlockBytes uint64
	}{rec, blockBytes})
}

// loadReuse returns what the store holds; the errors are those of Store.Load.
func loadReuse(st *store.Store, rec Recorded, blockBytes uint64) (*storedReuse, error) {
	key, err := reuseKey(rec, blockBytes)
	if err != nil {
		return nil, err
	}
	s := new(storedReuse)
	return s, st.Load(key, s)
}

func saveReuse(st *store.Store, rec Recorded, s *storedReuse) error {
	key, err := reuseKey(rec, s.Result.BlockBytes)
	if err != nil {
		return err
	}
	return st.Save(key, s)
}
