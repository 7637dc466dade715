package subject

import "presage/perf/progress"

// Reporter returns a function that reports the progress of one point's run.
func (opt *RunOptions) Reporter(point Point, done, total int) func(instructions uint64, stored bool) {
	if opt.Progress == nil {
		return func(uint64, bool) {}
	}
	return func(instructions uint64, stored bool) {
		opt.Progress(progress.Report{Task: point.String(), Done: done, Total: total, Instructions: instructions, Stored: stored})
	}
}

// Finished reports that all points of a sweep are done.
func (opt *RunOptions) Finished(total int) { opt.Progress.Finish(total) }
