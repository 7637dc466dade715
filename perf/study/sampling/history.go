package sampling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"presage/perf/internal/num"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// HistoryRow is how far off the misses at one level are if SimPoint's points are
// simulated after a history that warms caches up (metasim.WarmHistory), and what that
// costs. Shares and ratios are from 0 to 1.
type HistoryRow struct {
	Program   string        `frame:"program"`
	Point     subject.Point `frame:",each"`
	Machine   string        `frame:"machine"`
	Sampling  string        `frame:"sampling"` // of the points: SimPoint's by score, or the paper's 8
	Points    int           `frame:"points"`
	Simulated float64       `frame:"simulated_share"` // of the run's instructions
	Warmed    float64       `frame:"warmup_share"`    // likewise, as history
	Level     string        `frame:"level"`
	Misses    float64       `frame:"sim_miss_ratio"`            // of all accesses; accesses of blocks that no point shows are taken to hit
	ByAccess  float64       `frame:"sim_miss_ratio_by_access"`  // the same, a stretch counting by a block's accesses in it, in place of equation (4)
	ByHistory float64       `frame:"sim_miss_ratio_by_history"` // likewise, with what of the histories is like the points (metasim.ByHistory)
	Full      float64       `frame:"sim_full_miss_ratio"`       // of the full simulation
	Err       float64       `frame:"rel_err"`                   // of Misses against Full
	ErrBy     float64       `frame:"rel_err_by_access"`         // of ByAccess against Full
	ErrWith   float64       `frame:"rel_err_by_history"`        // of ByHistory against Full
	// Processor times, medians of runs in turn; missing if nothing was timed.
	Untraced    float64 `frame:"meas_untraced_processor_sec"`
	Guided      float64 `frame:"meas_processor_sec"`
	PerUntraced float64 `frame:"per_untraced"`
}

const historyFile = "-history.csv"

// History judges SimPoint's points, by score and the paper's number of them, with a
// history before each, by misses of the full simulation. full are these, of all
// accesses, by level. Results are kept in the store.
func (o Options) History(ctx context.Context, prog *subject.Program, point subject.Point, full map[string]float64) ([]HistoryRow, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &study{Options: o, report: o.Progress}
	s.Progress = nil
	s.begin("vectors")
	p, err := phase.BlockVectors(ctx, prog, point, phase.Options{RunOptions: s.RunOptions})
	if err != nil {
		return nil, err
	}
	s.standard = p
	rows, err := s.history(ctx, full)
	if err == nil {
		s.report.Finish(s.parts)
	}
	return rows, err
}

// history is History on the standard intervals.
func (s *study) history(ctx context.Context, full map[string]float64) (rows []HistoryRow, err error) {
	samplings := []phase.Sampling{guidedByScore, guidedByPaper}
	if s.Repeats < 0 {
		samplings = samplings[:1]
	}
	for _, how := range samplings {
		points := 0
		if how.Name == guidedByPaper.Name {
			points = min(paperPoints, s.standard.Vectors.Len())
		}
		chosen, err := s.standard.Pick(ctx, clustering(points))
		if err != nil {
			return nil, err
		}
		how.Points, how.Labels, how.Warmup = chosen.Points, chosen.Labels, metasim.WarmHistory
		of, err := s.after(ctx, how, full)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	return rows, nil
}

// after judges one sample with a history.
func (s *study) after(ctx context.Context, how phase.Sampling, full map[string]float64) (rows []HistoryRow, err error) {
	p := s.standard
	s.begin("%s, warm-up %q", how.Title(), how.WarmupTitle())
	list, err := phase.SampleCaches(ctx, p, s.Machine, []phase.Sampling{how})
	if err != nil {
		return nil, err
	}
	cost := phase.Overhead{Untraced: phase.RunCost{ProcessorSeconds: math.NaN()}, Sampled: phase.RunCost{ProcessorSeconds: math.NaN()}}
	if s.Repeats > 0 {
		s.begin("its overhead over %d runs", s.Repeats)
		if cost, err = p.Overhead(ctx, phase.OverheadOptions{Machine: s.Machine, Sampling: how, Repeats: s.Repeats}); err != nil {
			return nil, err
		}
	}
	hits, err := phase.HitRates(list...)
	if err != nil {
		return nil, err
	}
	points, err := list[0].ByAccess.Program(p.Code, p.Executions)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	for i, h := range hits {
		misses, known := full[h.Level]
		if !known {
			return nil, fmt.Errorf("perf: metasim: misses of the full simulation at %s are not known", h.Level)
		}
		rows = append(rows, HistoryRow{
			Program: h.Program, Point: h.Point, Machine: h.Machine, Sampling: h.Sampling, Points: h.Points,
			Simulated: h.Simulated, Warmed: h.Warmed, Level: h.Level, Misses: 1 - h.Hit, ByAccess: 1 - points[i].Hit, ByHistory: 1 - h.ByAccess, Full: misses,
			Err: num.RelErr(1-h.Hit, misses), ErrBy: num.RelErr(1-points[i].Hit, misses), ErrWith: num.RelErr(1-h.ByAccess, misses),
			Untraced: cost.Untraced.ProcessorSeconds, Guided: cost.Sampled.ProcessorSeconds,
			PerUntraced: cost.Sampled.ProcessorSeconds / cost.Untraced.ProcessorSeconds,
		})
	}
	return rows, nil
}

// FullMisses returns the misses of the full simulation, of all accesses, by level.
func (f *Findings) FullMisses() (map[string]float64, error) {
	misses := make(map[string]float64)
	for i := range f.Hits {
		if h := &f.Hits[i]; h.Sampling == fullRun.Title() {
			misses[h.Level] = 1 - h.Hit
		}
	}
	if len(misses) == 0 {
		return nil, errors.New("perf: metasim: the study has no full simulation")
	}
	return misses, nil
}

// RecordHistory records rows of History beside the study whose full simulation they
// are judged by. command makes them again.
func RecordHistory(prefix string, rows []HistoryRow, prog *subject.Program, command string) error {
	return record.Write(prefix+historyFile, rows, record.Source{
		Origin:  fmt.Sprintf("simulated by presage, times measured; full simulation of %s; %s, SHA-256 %s", filepath.Base(prefix)+hitsFile, prog.Name, prog.File.SHA256),
		Command: command,
	})
}
