package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"presage/perf/store"
)

// Times are how long jobs took, by kind, in the campaigns of a store.
type Times map[string]Time

// Time is what jobs of a kind took.
type Time struct {
	Jobs    int     `json:"jobs"`
	Seconds float64 `json:"seconds"` // together
}

// Add counts another job.
func (t Times) Add(kind string, seconds float64) {
	v := t[kind]
	v.Jobs, v.Seconds = v.Jobs+1, v.Seconds+seconds
	t[kind] = v
}

// Mean returns the mean time of a job of a kind in seconds, and whether any was
// measured.
func (t Times) Mean(kind string) (float64, bool) {
	v, ok := t[kind]
	if !ok || v.Jobs == 0 {
		return 0, false
	}
	return v.Seconds / float64(v.Jobs), true
}

const timesFile = "times.json"

// LoadTimes returns the times that the last campaign of a store left; none if there was
// none, or the file is damaged, as nothing but the size of chunks depends on them.
func LoadTimes(st *store.Store) (Times, error) {
	t := make(Times)
	text, err := os.ReadFile(filepath.Join(st.Dir(), Folder, timesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	if json.Unmarshal(text, &t) != nil {
		t = make(Times)
	}
	return t, nil
}

// Save keeps the times for the next campaign.
func (t Times) Save(st *store.Store) error {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return store.WriteFile(filepath.Join(st.Dir(), Folder, timesFile), append(text, '\n'))
}
