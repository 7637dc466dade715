package phase

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/frame"
	"presage/perf/metasim"

	"github.com/go-gota/gota/dataframe"
)

// hitRow is a row of the table of HitRates.
type hitRow struct {
	Program   string             `frame:"program"`
	Point     map[string]float64 `frame:",each"`
	Machine   string             `frame:"machine"`
	Sampling  string             `frame:"sampling"`
	Interval  float64            `frame:"interval_instructions"`
	Points    int                `frame:"points"`
	Warmup    string             `frame:"warmup"`
	Simulated float64            `frame:"simulated_share"`
	Warmed    float64            `frame:"warmup_share"`
	Mismatch  float64            `frame:"mismatch"`
	Level     string             `frame:"level"`
	Hit       float64            `frame:"sim_hit_ratio"`
	ByAccess  float64            `frame:"sim_hit_ratio_by_access"`
	Unseen    float64            `frame:"unseen_share"`
	Lo        float64            `frame:"sim_hit_ratio_least"`
	Hi        float64            `frame:"sim_hit_ratio_most"`
	Like      float64            `frame:"sim_hit_ratio_like_seen"`
	Full      float64            `frame:"sim_full_hit_ratio"`
	Diff      float64            `frame:"hit_ratio_diff"`
	DiffBy    float64            `frame:"hit_ratio_by_access_diff"`
}

// HitRates returns the program's cumulative hit ratios, a row for each sample and
// level of its machine:
//
//   - sampling, interval_instructions (missing but for SimPoint), points: stretches
//     that were simulated; warmup
//   - simulated_share, warmup_share: of the run's instructions, from 0 to 1
//   - mismatch: of the mix of code, from 0 to 1; of SimPoint only
//   - sim_hit_ratio: the mean of the blocks' hit ratios by equation (4), weighted
//     by their accesses in the full run; blocks that the sample does not show are
//     taken to hit always, as in the paper (2005, section 5.2)
//   - sim_hit_ratio_by_access: the same, stretches counting by a block's accesses
//     in them
//   - unseen_share: of the full run's accesses, by such blocks; if all of those
//     miss the ratio is sim_hit_ratio_least, if all hit sim_hit_ratio_most, and
//     if they hit as often as others sim_hit_ratio_like_seen
//   - sim_full_hit_ratio, and the differences from it, in the units of ratios:
//     missing if no full simulation of the program and machine is among samples
func HitRates(samples ...*CacheSample) (dataframe.DataFrame, error) {
	var rows []hitRow
	for _, c := range samples {
		rates, err := c.Rates.Program(c.Phases.Code, c.Phases.Executions)
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: %w", err)
		}
		byAccess, err := c.ByAccess.Program(c.Phases.Code, c.Phases.Executions)
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: %w", err)
		}
		n := float64(c.Phases.Instructions)
		full, err := fullRates(c, samples)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for l, r := range rates {
			row := hitRow{
				Program: c.Phases.Name, Point: c.Phases.Point, Machine: c.Machine.Name,
				Sampling: c.Sampling.Title(), Interval: c.interval(), Points: c.Points, Warmup: c.Sampling.Warmth(),
				Simulated: float64(c.Simulated) / n, Warmed: float64(c.Warmed) / n, Mismatch: c.Mismatch,
				Level: r.Level, Hit: r.Hit, ByAccess: byAccess[l].Hit, Unseen: r.Unseen, Lo: r.Lo, Hi: r.Hi, Like: r.Like, Full: math.NaN(),
			}
			if full != nil {
				row.Full = full[l].Hit
			}
			row.Diff, row.DiffBy = row.Hit-row.Full, row.ByAccess-row.Full
			rows = append(rows, row)
		}
	}
	return frame.Of(rows), nil
}

// interval returns the length of SimPoint's intervals, and NaN for others.
func (c *CacheSample) interval() float64 {
	if c.Sampling.Full || c.Sampling.Percent != 0 {
		return math.NaN()
	}
	return float64(c.Phases.Interval)
}

// same reports whether two samples are of the same run and machine.
func (c *CacheSample) same(o *CacheSample) bool {
	return c.Machine.Name == o.Machine.Name && c.Phases.Name == o.Phases.Name && strings.Join(c.Phases.Args, "\x00") == strings.Join(o.Phases.Args, "\x00")
}

// fullRates returns the rates of the full simulation among samples; nil: none.
func fullRates(c *CacheSample, samples []*CacheSample) ([]metasim.ProgramRate, error) {
	for _, o := range samples {
		if o.Sampling.Full && c.same(o) {
			return o.Rates.Program(o.Phases.Code, o.Phases.Executions)
		}
	}
	return nil, nil
}

// BlockHitRates returns a row for each basic block that accesses memory in the
// full run, those with the most accesses first, at one level of the machine; the
// samples are of one run:
//
//   - pc, routine, executions; accesses: executions times memory references
//   - share: of the accesses of the run; share_before: of the blocks above
//   - for each sample, under its name with underscores: <name>_hit_ratio,
//     and <name>_seen_hit_ratio, which is missing where the sample does not show
//     the block, and sim_hit_ratio is 1 by the paper's rule
func BlockHitRates(level string, samples ...*CacheSample) (dataframe.DataFrame, error) {
	type row struct {
		Program    string             `frame:"program"`
		Level      string             `frame:"level"`
		PC         string             `frame:"pc"`
		Routine    string             `frame:"routine"`
		Executions uint64             `frame:"executions"`
		Accesses   uint64             `frame:"accesses"`
		Share      float64            `frame:"share"`
		Before     float64            `frame:"share_before"`
		Rates      map[string]float64 `frame:",each"`
	}
	if len(samples) == 0 {
		return dataframe.DataFrame{}, errors.New("perf: no samples")
	}
	p := samples[0].Phases
	var rows []row
	total := uint64(0)
	for b, n := range p.Executions {
		block := &p.Code.Blocks[b]
		if n == 0 || block.Refs == 0 {
			continue
		}
		r := row{p.Name, level, fmt.Sprintf("%#x", uint64(block.PC)), block.Routine, n, n * uint64(block.Refs), 0, 0, make(map[string]float64)}
		for _, c := range samples {
			if !c.same(samples[0]) {
				return dataframe.DataFrame{}, fmt.Errorf("perf: samples of %s and of %s in one table of blocks", samples[0].Phases.Name, c.Phases.Name)
			}
			l := levelOf(c.Rates.Levels, level)
			if l < 0 {
				return dataframe.DataFrame{}, fmt.Errorf("perf: no level %s; there are %s", level, strings.Join(c.Rates.Levels, ", "))
			}
			name := columnName(c.Sampling.Title())
			r.Rates[name+"_hit_ratio"] = c.Rates.Hit[l][b]
			if c.Rates.Seen[b] {
				r.Rates[name+"_seen_hit_ratio"] = c.Rates.Hit[l][b]
			}
		}
		total += r.Accesses
		rows = append(rows, r)
	}
	sortByAccesses(rows, func(r *row) uint64 { return r.Accesses })
	before := uint64(0)
	for i := range rows {
		rows[i].Share, rows[i].Before = float64(rows[i].Accesses)/float64(total), float64(before)/float64(total)
		before += rows[i].Accesses
	}
	return frame.Of(rows), nil
}

func levelOf(levels []string, level string) int { return slices.Index(levels, level) }

// columnName makes a name of a sample into one of a column.
func columnName(title string) string {
	return strings.ReplaceAll(strings.ReplaceAll(title, "%", "_percent"), " ", "_")
}

func sortByAccesses[R any](rows []R, accesses func(*R) uint64) {
	slices.SortStableFunc(rows, func(a, b R) int { return cmp.Compare(accesses(&b), accesses(&a)) })
}
