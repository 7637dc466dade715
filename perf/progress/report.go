// Package progress is how long work reports how far it has come, the same for
// profiles, simulations, studies, calibrations and searches.
package progress

// Report is the state of long work at one moment.
type Report struct {
	Task         string // the step under way, such as "n=20" or "untraced run"
	Done, Total  int    // steps finished, and steps in all; Total is 0 if unknown
	Instructions uint64 // executed so far by the program under way; 0 if none runs
	Stored       bool   // the step's result was found in the store
	// Share is how much of the step is done, from 0 to 1; 0 if unknown.
	Share float64
}

// Finished reports whether no step is left.
func (r Report) Finished() bool { return r.Total > 0 && r.Done == r.Total }

// Func receives reports, from the goroutine that called for the work. A nil Func
// ignores them.
type Func func(Report)

// Report calls f, if there is one.
func (f Func) Report(r Report) {
	if f != nil {
		f(r)
	}
}

// Finish reports that all of total steps are finished.
func (f Func) Finish(total int) { f.Report(Report{Done: total, Total: total}) }
