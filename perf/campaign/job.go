package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"presage/perf/store"
)

// Job is a computation whose results are kept in a store. It is complete: a process on
// another machine that shares the store can do it.
type Job struct {
	Kind  string          `json:"kind"`  // of Work
	Label string          `json:"label"` // for people, such as "profile sweep3d at n=20"
	Spec  json.RawMessage `json:"spec"`  // what Work.Do is given: everything that the results depend on
	// Results are the entries that exist once the job is done; none: the entry that
	// marks it as done, Job.Mark, as its results' keys are not known before.
	Results []store.Key `json:"results,omitempty"`
	Needs   Needs       `json:"needs"`
}

// Needs are what a job occupies of a machine.
type Needs struct {
	Cores  int    `json:"cores,omitempty"`        // 0: 1
	Memory uint64 `json:"memory_bytes,omitempty"` // expected peak; 0: DefaultMemory
	// Alone says that nothing else may run on the machine at that time, as times are
	// measured.
	Alone bool `json:"alone,omitempty"`
}

// DefaultMemory is what a job is expected to occupy if it does not say, in bytes.
const DefaultMemory = 1 << 30

// WithDefaults returns the needs with their defaults.
func (n Needs) WithDefaults() Needs {
	if n.Cores <= 0 {
		n.Cores = 1
	}
	if n.Memory == 0 {
		n.Memory = DefaultMemory
	}
	return n
}

// NewJob returns a job of a kind; spec must marshal to JSON.
func NewJob(kind, label string, spec any, results ...store.Key) (Job, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return Job{}, fmt.Errorf("campaign: %s: %w", label, err)
	}
	return Job{Kind: kind, Label: label, Spec: text, Results: results}, nil
}

// markVersion is part of the keys of marks.
const markVersion = 1

// Mark returns the key that identifies the job, by its kind and its Spec. If the job
// names no Results, an entry there marks it as done.
func (j *Job) Mark() (store.Key, error) {
	return store.NewKey("job", markVersion, struct {
		Kind string
		Spec json.RawMessage
	}{j.Kind, j.Spec})
}

// results returns the entries that exist once the job is done.
func (j *Job) results() ([]store.Key, error) {
	if len(j.Results) > 0 {
		return j.Results, nil
	}
	mark, err := j.Mark()
	return []store.Key{mark}, err
}

// Done reports whether the store holds all results of the job.
func (j *Job) Done(st *store.Store) (bool, error) {
	keys, err := j.results()
	if err != nil {
		return false, err
	}
	for _, k := range keys {
		if !st.Has(k) {
			return false, nil
		}
	}
	return true, nil
}

// Site is where a job is done.
type Site struct {
	Store *store.Store
	// Running is called now and then with the instructions that the program under way
	// has executed.
	Running func(instructions uint64)
}

// Work is a kind of job.
type Work struct {
	Kind string
	// Do computes what a Job's Spec describes and keeps its results in the site's store.
	Do func(ctx context.Context, at Site, spec json.RawMessage) error
}

// NewWork returns a kind of job whose Specs are of type S. A Spec with a field that S
// lacks is an error: it was written by another version.
func NewWork[S any](kind string, do func(ctx context.Context, at Site, spec S) error) Work {
	return Work{Kind: kind, Do: func(ctx context.Context, at Site, text json.RawMessage) error {
		var spec S
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&spec); err != nil {
			return fmt.Errorf("campaign: a job of kind %s: %w", kind, err)
		}
		return do(ctx, at, spec)
	}}
}

// ErrFull is the error of jobs whose results could not be kept, as the store's disk is
// full or its quota exhausted. What was computed is lost, so that the campaign stops.
var ErrFull = errors.New("the store is full: free space, for example with presage store gc, and repeat the command: it goes on where it stopped")

// Full returns err, wrapping ErrFull, too, if it is that of a full disk.
func Full(err error) error {
	if full(err) && !errors.Is(err, ErrFull) {
		return fmt.Errorf("%w: %w", err, ErrFull)
	}
	return err
}

// full reports whether an error is that of a full disk.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// perform does a job unless the store holds its results already.
func perform(ctx context.Context, at Site, works []Work, j *Job) error {
	if done, err := j.Done(at.Store); done || err != nil {
		return err
	}
	do := func(context.Context, Site, json.RawMessage) error {
		return fmt.Errorf("campaign: no work of kind %q: the worker is of another version", j.Kind)
	}
	for _, w := range works {
		if w.Kind == j.Kind {
			do = w.Do
		}
	}
	if err := do(ctx, at, j.Spec); err != nil {
		return err
	}
	if len(j.Results) == 0 {
		mark, err := j.Mark()
		if err != nil {
			return err
		}
		// Only now: the mark promises the results.
		if err := at.Store.Failure(); err != nil {
			return err
		}
		return at.Store.Save(mark, j.Label)
	}
	done, err := j.Done(at.Store)
	switch {
	case err != nil || done:
		return err
	case at.Store.Failure() != nil:
		return at.Store.Failure()
	}
	return fmt.Errorf("campaign: %s: done, but its results are not those expected: the worker's version, its files or its engine differ from those here", j.Label)
}
