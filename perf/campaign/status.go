package campaign

import (
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/store"
)

// Status is how far a campaign has come.
type Status struct {
	Manifest
	Done    int     // jobs whose results are in the store
	Failed  []Ended // by label
	Seconds float64 // that jobs took, together
}

// StatusOf returns how far a campaign of a store has come: by its entries there, and by
// its journals. A job that failed and was done later counts as done.
func StatusOf(st *store.Store, id string) (*Status, error) {
	m, err := ReadManifest(st, id)
	if err != nil {
		return nil, err
	}
	c, err := Load(st, id)
	if err != nil {
		return nil, err
	}
	left := make(map[string]bool, len(c.Jobs)) // and failed
	for i := range c.Jobs {
		mark, err := c.Jobs[i].Mark()
		if err != nil {
			return nil, err
		}
		left[mark.Hash] = true
	}
	s := &Status{Manifest: *m}
	dir := filepath.Join(st.Dir(), Folder, id)
	names, err := Journals(dir)
	if err != nil {
		return nil, err
	}
	done, failed := make(map[string]bool), make(map[string]Ended)
	for _, name := range names {
		err := ReadJournal(dir, name, func(e *Ended) {
			s.Seconds += e.Seconds
			if e.Begun {
				return
			}
			if e.Error == "" {
				done[e.Job] = true
			} else {
				failed[e.Job] = *e
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for job, e := range failed {
		if !done[job] {
			s.Failed = append(s.Failed, e)
			left[job] = true
		}
	}
	slices.SortFunc(s.Failed, func(a, b Ended) int { return strings.Compare(a.Label+a.Job, b.Label+b.Job) })
	s.Done = m.Total - len(left)
	return s, nil
}
