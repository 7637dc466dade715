package sampling

import (
	"fmt"
	"math"

	"presage/perf/frame"

	"github.com/go-gota/gota/dataframe"
)

// metaSimRow is a row of MetaSimTable.
type metaSimRow struct {
	Study        string  `frame:"study"`
	Instructions float64 `frame:"instructions"`
	Points       float64 `frame:"points"`
	Simulated    float64 `frame:"simulated_share"`
	Warmed       float64 `frame:"warmup_share"`
	PerUntraced  float64 `frame:"per_untraced"`
	PerFull      float64 `frame:"per_full"`
	PerFull10    float64 `frame:"periodic_10_per_full"`
	PerFull1     float64 `frame:"periodic_1_per_full"`
	FullCost     float64 `frame:"full_per_untraced"`
	Full         float64 `frame:"sim_full_hit_ratio"`
	Diff         float64 `frame:"diff_points"`
	Diff8        float64 `frame:"diff_points_k8"`
	Diff10       float64 `frame:"diff_points_periodic_10"`
	Diff1        float64 `frame:"diff_points_periodic_1"`
	Unseen       float64 `frame:"unseen_share"`
	Mismatch     float64 `frame:"mismatch"`
}

// Table puts the findings of some studies into the form of the paper's
// Table 2 (2005), a row for each, at one level. hits and runs are the tables of
// MetaSim, one study below the other, with a column study that names it.
//
//   - instructions: of the full run; points: that SimPoint's score chose
//   - simulated_share, warmup_share, unseen_share, mismatch, of these: see HitRates
//   - per_untraced, per_full: processor time of the SimPoint-guided simulation over
//     that of the untraced run and of the full simulation; periodic_10_per_full,
//     periodic_1_per_full, full_per_untraced: likewise
//   - sim_full_hit_ratio: of the full simulation, from 0 to 1
//   - diff_points, diff_points_k8, …: hit ratio less that, in percentage points, of
//     SimPoint, of SimPoint with eight points, and of periodic samples of 10% and 1%
func Table(hits, runs dataframe.DataFrame, level string) (dataframe.DataFrame, error) {
	studies, err := frame.Strings(runs, "study")
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []metaSimRow
	for i, study := range studies {
		if i > 0 && studies[i-1] == study {
			continue
		}
		l := lookup{hits: hits, runs: runs, study: study, level: level}
		r := metaSimRow{Study: study}
		for _, c := range []struct {
			to             *float64
			column, sample string
			scale          float64
		}{
			{&r.Points, "points", "simpoint", 1},
			{&r.Simulated, "simulated_share", "simpoint", 1},
			{&r.Warmed, "warmup_share", "simpoint", 1},
			{&r.Unseen, "unseen_share", "simpoint", 1},
			{&r.Mismatch, "mismatch", "simpoint", 1},
			{&r.Full, "sim_full_hit_ratio", "simpoint", 1},
			{&r.Diff, "hit_ratio_diff", "simpoint", 100},
			{&r.Diff8, "hit_ratio_diff", "simpoint 8", 100},
			{&r.Diff10, "hit_ratio_diff", "periodic 10%", 100},
			{&r.Diff1, "hit_ratio_diff", "periodic 1%", 100},
		} {
			*c.to = c.scale * l.hit(c.column, c.sample)
		}
		r.Instructions = l.run("instructions", "untraced", "")
		r.PerUntraced, r.PerFull = l.run("per_untraced", "simpoint", "fixed"), l.run("per_full", "simpoint", "fixed")
		r.PerFull10, r.PerFull1 = l.run("per_full", "periodic 10%", "fixed"), l.run("per_full", "periodic 1%", "fixed")
		r.FullCost = l.run("per_untraced", "full", "")
		if l.err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: study %s: %w", study, l.err)
		}
		rows = append(rows, r)
	}
	return frame.Of(rows), nil
}

// lookup finds cells of a study's tables; err is the first failure.
type lookup struct {
	hits, runs   dataframe.DataFrame
	study, level string
	err          error
}

// hit returns a column of a sample that is warmed up as by default.
func (l *lookup) hit(column, sampling string) float64 {
	return l.cell(l.hits, column, [][2]string{{"study", l.study}, {"level", l.level}, {"sampling", sampling}, {"warmup", "fixed"}})
}

func (l *lookup) run(column, run, warmup string) float64 {
	return l.cell(l.runs, column, [][2]string{{"study", l.study}, {"run", run}, {"warmup", warmup}})
}

func (l *lookup) cell(df dataframe.DataFrame, column string, where [][2]string) float64 {
	if l.err != nil {
		return math.NaN()
	}
	for _, w := range where {
		if df, l.err = frame.Where(df, w[0], w[1]); l.err != nil {
			return math.NaN()
		}
	}
	v, err := frame.Floats(df, column)
	if err == nil && len(v) != 1 {
		err = fmt.Errorf("%d rows with %v, want one", len(v), where)
	}
	if l.err = err; err != nil {
		return math.NaN()
	}
	return v[0]
}

// MeanAbs returns the mean of the absolute values of a column. Missing ones do not
// count; it is NaN if all are.
func MeanAbs(df dataframe.DataFrame, column string) (float64, error) {
	v, err := frame.Floats(df, column)
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum += math.Abs(x)
			n++
		}
	}
	return sum / float64(n), nil
}
