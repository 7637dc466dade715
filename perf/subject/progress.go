package subject

// Reporter returns a function that reports the progress of one point's run.
func (opt *RunOptions) Reporter(point Point, done, total int) func(instructions uint64, stored bool) {
	if opt.Progress == nil {
		return func(uint64, bool) {}
	}
	return func(instructions uint64, stored bool) {
		opt.Progress(Progress{Point: point, Done: done, Total: total, Instructions: instructions, Stored: stored})
	}
}

func (opt *RunOptions) Finished(total int) {
	if opt.Progress != nil {
		opt.Progress(Progress{Done: total, Total: total})
	}
}
