package training

import (
	"fmt"

	"presage/perf/locality"
	"presage/perf/misses"
)

// Stop is why training ended.
type Stop string

// Why training ends.
const (
	StopError    Stop = "error reached"   // the errors are within the one requested
	StopBudget   Stop = "budget spent"    // nothing that would help fits into what is left
	StopSizes    Stop = "no further size" // all sizes that would help have been run
	StopFailures Stop = "too many failures"
)

// Trained is what Train returns.
type Trained struct {
	Runs  *locality.Runs // that the model was fitted to, by ascending size
	Model *misses.Model
	Steps []Step // in the order in which they were made
	// HeldOut is how far the model without the largest run is off there: a row for
	// all block sizes together, and one for each. If there was a sampled run
	// beyond the others, the whole model is judged there instead.
	HeldOut []HeldOut
	Stopped Stop
	// Spent is the time that counts against the budget, in seconds.
	Spent    float64
	Warnings []string
}

// Outcome is what became of a run.
type Outcome string

// Outcomes of runs.
const (
	Fitted     Outcome = "fitted"
	Checked    Outcome = "checked" // a sampled run that the models were judged at; it is not fitted
	Vague      Outcome = "vague"   // a sampled run that says too little to judge by
	Failed     Outcome = "failed"  // the program failed; the size is left out
	Unfinished Outcome = "out of time"
)

// Step is one run that Train made. Errors are 90th percentiles over the capacities
// of all block sizes, relative and absolute; missing where nothing could be judged.
type Step struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Run      string             `frame:"run"` // exact, or sampled 1 in …
	Reason   string             `frame:"reason"`
	Outcome  Outcome            `frame:"outcome"`
	Accesses uint64             `frame:"accesses"`  // recorded; 0 without a profile
	Seconds  float64            `frame:"time_sec"`  // of the run, when it was made
	Spent    float64            `frame:"spent_sec"` // by runs and fits up to this step
	// Err is how far the model of the runs before was off at this one.
	Err float64 `frame:"rel_err_p90"`
	// Before and After are the errors at the largest size, held out, before and after
	// the step.
	Before float64 `frame:"held_out_before_p90"`
	After  float64 `frame:"held_out_after_p90"`
	// Change is by how much the largest run changed what is predicted at Until.
	Change float64 `frame:"until_change_p90"`
	Note   string  `frame:"note"` // how the program failed
}

// kindOf names how a run is made.
func kindOf(oneIn uint64) string {
	if oneIn <= 1 {
		return "exact"
	}
	return fmt.Sprintf("sampled 1 in %d", oneIn)
}
