package phase

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/metasim"
	"presage/perf/subject"
)

// HitRow is a program's cumulative hit ratio at one level, as a sample shows it.
// Shares and ratios are from 0 to 1.
type HitRow struct {
	Program   string        `frame:"program"`
	Point     subject.Point `frame:",each"`
	Machine   string        `frame:"machine"`
	Sampling  string        `frame:"sampling"`              // Sampling.Title
	Interval  float64       `frame:"interval_instructions"` // NaN unless SimPoint's points were simulated
	Points    int           `frame:"points"`                // stretches that were simulated
	Warmup    string        `frame:"warmup"`                // Sampling.WarmupTitle
	Simulated float64       `frame:"simulated_share"`       // of the run's instructions
	Warmed    float64       `frame:"warmup_share"`          // likewise, to warm caches up
	Mismatch  float64       `frame:"mismatch"`              // of the mix of code; NaN unless SimPoint chose
	Level     string        `frame:"level"`
	// Hit is the mean of the blocks' hit ratios by equation (4), weighted by their
	// accesses in the full run; blocks that the sample does not show are taken to
	// hit always, as in the paper (2005, section 5.2).
	Hit float64 `frame:"sim_hit_ratio"`
	// ByAccess is the same, a stretch counting by the block's accesses in it, and after
	// a history with what of that is like the stretch (CacheSample.ByHistory).
	ByAccess float64 `frame:"sim_hit_ratio_by_access"`
	Unseen   float64 `frame:"unseen_share"`            // of the full run's accesses, by blocks that the sample does not show
	Lo       float64 `frame:"sim_hit_ratio_least"`     // if all accesses of unseen blocks miss
	Hi       float64 `frame:"sim_hit_ratio_most"`      // if all of them hit
	Like     float64 `frame:"sim_hit_ratio_like_seen"` // if they hit as often as the others
	Full     float64 `frame:"sim_full_hit_ratio"`      // of the full simulation; NaN, as the differences, if that is not among the samples
	Diff     float64 `frame:"hit_ratio_diff"`          // Hit - Full
	DiffBy   float64 `frame:"hit_ratio_by_access_diff"`
}

// HitRates returns a row for each sample and level of its machine.
func HitRates(samples ...*CacheSample) ([]HitRow, error) {
	var rows []HitRow
	for _, c := range samples {
		of, err := c.hitRows(samples)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	return rows, nil
}

func (c *CacheSample) hitRows(samples []*CacheSample) ([]HitRow, error) {
	p := c.Intervals
	rates, err := c.Rates.Program(p.Code, p.Executions)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	by := c.ByAccess
	if c.ByHistory != nil {
		by = c.ByHistory
	}
	byAccess, err := by.Program(p.Code, p.Executions)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	full, err := c.fullRates(samples)
	if err != nil {
		return nil, err
	}
	n := float64(p.Instructions)
	var rows []HitRow
	for l, r := range rates {
		row := HitRow{
			Program: p.Name, Point: p.Point, Machine: c.Machine.Name,
			Sampling: c.Sampling.Title(), Interval: c.interval(), Points: c.Points, Warmup: c.Sampling.WarmupTitle(),
			Simulated: float64(c.Simulated) / n, Warmed: float64(c.Warmed) / n, Mismatch: c.Mismatch,
			Level: r.Level, Hit: r.Hit, ByAccess: byAccess[l].Hit, Unseen: r.Unseen, Lo: r.Lo, Hi: r.Hi, Like: r.Like, Full: math.NaN(),
		}
		if full != nil {
			row.Full = full[l].Hit
		}
		row.Diff, row.DiffBy = row.Hit-row.Full, row.ByAccess-row.Full
		rows = append(rows, row)
	}
	return rows, nil
}

// interval returns the length of SimPoint's intervals, and NaN for others.
func (c *CacheSample) interval() float64 {
	if c.Sampling.Full || c.Sampling.Percent != 0 {
		return math.NaN()
	}
	return float64(c.Intervals.Interval)
}

// same reports whether two samples are of the same run and machine.
func (c *CacheSample) same(o *CacheSample) bool {
	a, b := c.Intervals, o.Intervals
	return c.Machine.Name == o.Machine.Name && a.Name == b.Name && slices.Equal(a.Args, b.Args)
}

// fullRates returns the rates of the full simulation of c's run among samples, or
// nil if there is none.
func (c *CacheSample) fullRates(samples []*CacheSample) ([]metasim.ProgramRate, error) {
	for _, o := range samples {
		if o.Sampling.Full && c.same(o) {
			return o.Rates.Program(o.Intervals.Code, o.Intervals.Executions)
		}
	}
	return nil, nil
}

// BlockRow is a basic block that accesses memory in the full run.
type BlockRow struct {
	Program    string  `frame:"program"`
	Level      string  `frame:"level"`
	PC         string  `frame:"pc"`
	Routine    string  `frame:"routine"`
	Executions uint64  `frame:"executions"`   // in the full run
	Accesses   uint64  `frame:"accesses"`     // executions times memory references
	Share      float64 `frame:"share"`        // of the accesses of the run
	Before     float64 `frame:"share_before"` // of the blocks in the rows above
	// Rates are the block's hit ratios: for each sample, under its title with
	// underscores, <title>_hit_ratio, by the paper's rule 1 if the sample does not
	// show the block, and <title>_seen_hit_ratio, which is left out then.
	Rates map[string]float64 `frame:",each"`
}

// BlockHitRates returns a row for each basic block that accesses memory in the full
// run, by descending accesses, at one level of the machine. The samples are of one
// run.
func BlockHitRates(level string, samples ...*CacheSample) ([]BlockRow, error) {
	if len(samples) == 0 {
		return nil, errors.New("perf: no samples")
	}
	p := samples[0].Intervals
	var rows []BlockRow
	total := uint64(0)
	for b, n := range p.Executions {
		block := &p.Code.Blocks[b]
		if n == 0 || block.Refs == 0 {
			continue
		}
		r := BlockRow{p.Name, level, fmt.Sprintf("%#x", uint64(block.PC)), block.Routine, n, n * uint64(block.Refs), 0, 0, make(map[string]float64)}
		for _, c := range samples {
			if err := r.add(c, samples[0], level, b); err != nil {
				return nil, err
			}
		}
		total += r.Accesses
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b BlockRow) int { return cmp.Compare(b.Accesses, a.Accesses) })
	before := uint64(0)
	for i := range rows {
		rows[i].Share, rows[i].Before = float64(rows[i].Accesses)/float64(total), float64(before)/float64(total)
		before += rows[i].Accesses
	}
	return rows, nil
}

// add adds the hit ratios of the block with index b in a sample, which must be of
// the same run as first.
func (r *BlockRow) add(c, first *CacheSample, level string, b int) error {
	if !c.same(first) {
		return fmt.Errorf("perf: samples of %s and of %s in one table of blocks", first.Intervals.Name, c.Intervals.Name)
	}
	l := slices.Index(c.Rates.Levels, level)
	if l < 0 {
		return fmt.Errorf("perf: no level %s; there are %s", level, strings.Join(c.Rates.Levels, ", "))
	}
	name := columnName(c.Sampling.Title())
	r.Rates[name+"_hit_ratio"] = c.Rates.Hit[l][b]
	if c.Rates.Seen[l][b] {
		r.Rates[name+"_seen_hit_ratio"] = c.Rates.Hit[l][b]
	}
	return nil
}

// columnName turns the title of a sample into the beginning of a column's name.
func columnName(title string) string {
	return strings.ReplaceAll(strings.ReplaceAll(title, "%", "_percent"), " ", "_")
}
