package sampling

import (
	"fmt"
	"math"

	"presage/perf/phase"
)

// Table2Row is a study in the form of the paper's Table 2 (2005), at one level.
// Shares and ratios are from 0 to 1, costs are ratios of processor times. SimPoint,
// where nothing else is said, is SimPoint with its defaults; samples are warmed up
// as by default.
type Table2Row struct {
	Study        string  `frame:"study"`
	Instructions float64 `frame:"instructions"`            // of the full run
	Points       float64 `frame:"points"`                  // that SimPoint's score chose
	Simulated    float64 `frame:"simulated_share"`         // of these, as warmup_share
	Warmed       float64 `frame:"warmup_share"`            //
	PerUntraced  float64 `frame:"per_untraced"`            // SimPoint-guided simulation over the untraced run
	PerFull      float64 `frame:"per_full"`                // SimPoint-guided over full simulation
	PerFull10    float64 `frame:"periodic_10_per_full"`    // periodic simulation of 10% over full
	PerFull1     float64 `frame:"periodic_1_per_full"`     // of 1%
	FullCost     float64 `frame:"full_per_untraced"`       // full simulation over the untraced run
	Full         float64 `frame:"sim_full_hit_ratio"`      // of the full simulation
	Diff         float64 `frame:"diff_points"`             // SimPoint's hit ratio less that, in percentage points
	Diff8        float64 `frame:"diff_points_k8"`          // of SimPoint with eight points
	Diff10       float64 `frame:"diff_points_periodic_10"` // of periodic samples of 10%
	Diff1        float64 `frame:"diff_points_periodic_1"`  // of 1%
	Unseen       float64 `frame:"unseen_share"`            // of accesses, by blocks that SimPoint's sample does not show
	Mismatch     float64 `frame:"mismatch"`                // see phase.HitRow
}

// Table2 returns a row for each study, at one level of the machine.
func Table2(level string, studies ...*Findings) ([]Table2Row, error) {
	var rows []Table2Row
	for _, f := range studies {
		r, err := f.table2(level)
		if err != nil {
			return nil, fmt.Errorf("perf: study %s: %w", f.Name, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (f *Findings) table2(level string) (Table2Row, error) {
	l := lookup{hits: make(map[sampleKey]*phase.HitRow), runs: make(map[sampleKey]*RunRow)}
	for i := range f.Hits {
		if h := &f.Hits[i]; h.Level == level {
			l.hits[sampleKey{h.Sampling, h.Warmup}] = h
		}
	}
	for i := range f.Runs {
		r := &f.Runs[i]
		l.runs[sampleKey{r.Run, r.Warmup}] = r
	}
	periodic10, periodic1 := phase.Sampling{Percent: 10}, phase.Sampling{Percent: 1}
	hit, run := l.hit(guidedByScore), l.run(keyOf(guidedByScore))
	untraced, full := l.run(untracedRun), l.run(keyOf(fullRun))
	row := Table2Row{
		Study: f.Name, Instructions: float64(untraced.Instructions),
		Points: float64(hit.Points), Simulated: hit.Simulated, Warmed: hit.Warmed, Unseen: hit.Unseen, Mismatch: hit.Mismatch,
		PerUntraced: run.PerUntraced, PerFull: run.PerFull,
		PerFull10: l.run(keyOf(periodic10)).PerFull, PerFull1: l.run(keyOf(periodic1)).PerFull, FullCost: full.PerUntraced,
		Full: hit.Full, Diff: 100 * hit.Diff, Diff8: 100 * l.hit(guidedByPaper).Diff, Diff10: 100 * l.hit(periodic10).Diff, Diff1: 100 * l.hit(periodic1).Diff,
	}
	if l.err == nil && len(l.hits) == 0 {
		l.err = fmt.Errorf("no level %s", level)
	}
	return row, l.err
}

// lookup finds rows of a study by sample or run; err is the first failure.
type lookup struct {
	hits map[sampleKey]*phase.HitRow
	runs map[sampleKey]*RunRow
	err  error
}

// hit returns the hit ratio of a sample, or an empty row.
func (l *lookup) hit(s phase.Sampling) *phase.HitRow {
	key := keyOf(s)
	if r, ok := l.hits[key]; ok {
		return r
	}
	l.miss("hit ratio", key)
	return new(phase.HitRow)
}

// run returns a timed run, or an empty row.
func (l *lookup) run(key sampleKey) *RunRow {
	if r, ok := l.runs[key]; ok {
		return r
	}
	l.miss("run", key)
	return new(RunRow)
}

func (l *lookup) miss(what string, key sampleKey) {
	if l.err == nil {
		l.err = fmt.Errorf("no %s of sampling %q with warm-up %q", what, key.title, key.warmup)
	}
}

// MeanAbs returns the mean of the absolute values that are not NaN; NaN if all are.
func MeanAbs(values []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range values {
		if !math.IsNaN(x) {
			sum += math.Abs(x)
			n++
		}
	}
	return sum / float64(n)
}
