package phase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"presage/perf/bbv"
	"presage/perf/simpoint"
	"presage/perf/store"
)

// Selection is a choice of intervals that stand for the whole run: the simulation
// points.
type Selection struct {
	*Intervals
	*simpoint.Result
}

// Pick chooses intervals that stand for the whole run. The zero Options take as
// many as their score asks for, 30 at most.
func (p *Intervals) Pick(ctx context.Context, opt simpoint.Options) (*Selection, error) {
	r, err := simpoint.Pick(ctx, p.Vectors, opt)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return &Selection{p, r}, nil
}

// PointRow is a simulation point.
type PointRow struct {
	Program  string  `frame:"program"`
	Cluster  int     `frame:"cluster"`               // from 0
	Interval int     `frame:"interval"`              // from 0
	Start    uint64  `frame:"start_instructions"`    // executed before it
	Length   uint64  `frame:"interval_instructions"` // of this interval
	Weight   float64 `frame:"weight"`                // share of the run that it stands for, from 0 to 1
	Distance float64 `frame:"distance"`              // from the centre of its cluster, in the projected space, where vectors have a sum of 1
}

// Rows returns a row for each simulation point, by cluster.
func (s *Selection) Rows() []PointRow {
	var rows []PointRow
	for _, q := range s.Points {
		rows = append(rows, PointRow{s.Name, q.Cluster, q.Interval, s.Vectors.Starts[q.Interval], s.Vectors.Lengths[q.Interval], q.Weight, q.Distance})
	}
	return rows
}

// IntervalRow is an interval and the cluster that it is in. Columns that PointRow
// has too mean the same.
type IntervalRow struct {
	Program  string  `frame:"program"`
	Interval int     `frame:"interval"`
	Start    uint64  `frame:"start_instructions"`
	Length   uint64  `frame:"interval_instructions"`
	Cluster  int     `frame:"cluster"`
	Distance float64 `frame:"distance"`
	Point    bool    `frame:"point"` // it is a simulation point
}

// Timeline returns a row for each interval, in the order of time.
func (s *Selection) Timeline() []IntervalRow {
	point := make(map[int]bool)
	for _, q := range s.Points {
		point[q.Interval] = true
	}
	rows := make([]IntervalRow, s.Vectors.Len())
	for i := range rows {
		rows[i] = IntervalRow{s.Name, i, s.Vectors.Starts[i], s.Vectors.Lengths[i], s.Labels[i], s.Distances[i], point[i]}
	}
	return rows
}

// ScoreRow is a number of clusters that was tried.
type ScoreRow struct {
	K        int     `frame:"k"`        // asked for
	Found    int     `frame:"found"`    // fewer than k if fewer intervals differ
	Score    float64 `frame:"bic"`      // of which the smallest k with a good one is chosen
	Variance float64 `frame:"variance"` // mean square of distances from the centres
	Chosen   bool    `frame:"chosen"`   // the first that found as many clusters as were chosen
}

// Scores returns a row for each number of clusters that was tried.
func (s *Selection) Scores() []ScoreRow {
	chosen := slices.IndexFunc(s.Trials, func(t simpoint.Trial) bool { return t.Found == s.K })
	var rows []ScoreRow
	for i, t := range s.Trials {
		rows = append(rows, ScoreRow{t.K, t.Found, t.Score, t.Variance, i == chosen})
	}
	return rows
}

// StartRow is a run of k-means.
type StartRow struct {
	K          int     `frame:"k"`      // clusters asked for
	Start      int     `frame:"start"`  // from 0
	Passes     int     `frame:"passes"` // over the intervals, of which the last moved none
	Score      float64 `frame:"bic"`
	Distortion float64 `frame:"distortion"` // sum of squared distances from the centres, intervals weighing 1 on average
}

// StartRows returns a row for each run of k-means, by number of clusters.
func (s *Selection) StartRows() []StartRow {
	var rows []StartRow
	for _, t := range s.Starts {
		rows = append(rows, StartRow{t.K, t.Start, t.Passes, t.Score, t.Distortion})
	}
	return rows
}

// WriteFiles writes the vectors, points, weights and labels in the formats of
// SimPoint 3.2: PREFIX.bb, PREFIX.simpoints, PREFIX.weights and PREFIX.labels.
func (s *Selection) WriteFiles(prefix string) error {
	return errors.Join(
		store.WriteTo(prefix+".bb", func(w io.Writer) error { return bbv.Write(w, s.Vectors) }),
		store.WriteTo(prefix+".simpoints", func(w io.Writer) error { return simpoint.WritePoints(w, s.Points) }),
		store.WriteTo(prefix+".weights", func(w io.Writer) error { return simpoint.WriteWeights(w, s.Points) }),
		store.WriteTo(prefix+".labels", func(w io.Writer) error { return simpoint.WriteLabels(w, s.Result) }),
	)
}

// ReadPoints reads simulation points, PREFIX.simpoints and PREFIX.weights, that
// WriteFiles or SimPoint 3.2 wrote, for Sampling.Points.
func ReadPoints(prefix string) ([]simpoint.Point, error) {
	names := simpoint.Names{Points: prefix + ".simpoints", Weights: prefix + ".weights"}
	var readers [2]io.Reader
	for i, name := range []string{names.Points, names.Weights} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("perf: %w", err)
		}
		readers[i] = strings.NewReader(string(data))
	}
	points, err := simpoint.ReadPoints(readers[0], readers[1], names)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	return points, nil
}
