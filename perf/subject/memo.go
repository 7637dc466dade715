package subject

import (
	"presage/perf/progress"
	"presage/perf/store"
)

// Step is one point of a sweep, for Memo.
type Step struct {
	Options     *RunOptions // its store and progress
	Point       Point       // for reports of progress
	Done, Total int         // points finished before this one, and points in all
}

// Memo returns the result of compute under a kind, its version and the inputs
// that it depends on (see store.NewKey) from the step's store, or calls compute
// and saves it. Where it came from is reported as progress, and so is what
// compute passes on to running.
func Memo[T any](step Step, kind string, version int, inputs any, compute func(running func(instructions uint64)) (T, error)) (store.Memoized[T], error) {
	var none store.Memoized[T]
	st, err := store.OrDefault(step.Options.Store)
	if err != nil {
		return none, err
	}
	key, err := store.NewKey(kind, version, inputs)
	if err != nil {
		return none, err
	}
	m, err := store.Memo(st, key, func() (T, error) {
		step.running(0)
		return compute(step.running)
	})
	if err == nil && m.Stored {
		step.report(0, true)
	}
	return m, err
}

// running reports that the step's program has executed some instructions.
func (s Step) running(instructions uint64) { s.report(instructions, false) }

func (s Step) report(instructions uint64, stored bool) {
	s.Options.Progress.Report(progress.Report{
		Task: s.Point.String(), Done: s.Done, Total: s.Total, Instructions: instructions, Stored: stored,
	})
}
