package sampling

import (
	"fmt"

	"presage/perf/phase"
	"presage/perf/simpoint"
)

// sampleKey identifies a run in the tables: the columns sampling (run, in the table
// of runs) and warmup.
type sampleKey struct{ title, warmup string }

func keyOf(s phase.Sampling) sampleKey { return sampleKey{s.Title(), s.WarmupTitle()} }

// Samples that the study simulates and Table2 looks up.
var (
	fullRun       = phase.Sampling{Full: true}
	guidedByScore = phase.Sampling{Name: "simpoint"}
	guidedByPaper = phase.Sampling{Name: fmt.Sprintf("simpoint %d", paperPoints)}
)

// Runs that simulate nothing.
var (
	untracedRun       = sampleKey{title: "untraced"}
	collectingVectors = sampleKey{title: "vectors"}
	choosingPoints    = sampleKey{title: "clustering"}
)

// clustering returns SimPoint's options for a number of points, 0: by its score. The
// study is of SimPoint 3.2, with as many starts as that takes.
func clustering(points int) simpoint.Options {
	return simpoint.Options{K: points, Starts: simpoint.SimPoint32Starts}
}

// paperPoints is the number of points that the paper always uses (section 4).
const paperPoints = 8

// sweepName returns the title of the sample of k points in the comparison of
// numbers of points; 0 is the number that SimPoint's score chooses.
func sweepName(k int) string {
	if k == 0 {
		return "simpoint by score"
	}
	return fmt.Sprintf("simpoint k=%d", k)
}
