package phase

import (
	"fmt"
	"math"
	"strings"

	"presage/perf/metasim"
	"presage/perf/subject"
)

// ConvolvedRow is the time of a run as one sample of its caches lets it predict.
type ConvolvedRow struct {
	Program  string        `frame:"program"`
	Point    subject.Point `frame:",each"`
	Machine  string        `frame:"machine"`
	Sampling string        `frame:"sampling"`
	Warmup   string        `frame:"warmup"`
	Share    float64       `frame:"simulated_share"` // of the run's instructions, from 0 to 1
	Cycles   float64       `frame:"pred_cycles"`
	Seconds  float64       `frame:"pred_time_sec"` // NaN if the machine's frequency is not known
	CPI      float64       `frame:"pred_cpi"`
	Work     float64       `frame:"pred_work_cycles"` // instructions and hits, by throughputs alone
	// Waits are the cycles that misses take at each level, pred_<level>_wait_cycles;
	// with Work they add up to Cycles.
	Waits   map[string]float64 `frame:",each"`
	Warning string             `frame:"pred_time_warning"` // what was assumed that the machine's description does not say
}

// Convolve predicts the time of the run that samples were taken of, on the machine
// whose caches they simulated, and returns a row for each sample. It is the MetaSim
// convolver (2005, section 1), which maps what each basic block does (executions,
// memory references, hit ratios) to what the machine can do (throughputs, costs of
// misses). Dependences between instructions and branch mispredictions are not
// modelled: timing.Simulate is the reference, and timing.Predict a model with
// dependences.
func Convolve(samples ...*CacheSample) ([]ConvolvedRow, error) {
	var rows []ConvolvedRow
	for _, c := range samples {
		p := c.Intervals
		t, err := metasim.Convolve(&metasim.Signature{Code: p.Code, Executions: p.Executions, Rates: c.Rates}, metasim.ProfileOf(c.Machine))
		if err != nil {
			return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
		}
		n := float64(p.Instructions)
		row := ConvolvedRow{
			Program: p.Name, Point: p.Point, Machine: c.Machine.Name, Sampling: c.Sampling.Title(), Warmup: c.Sampling.WarmupTitle(),
			Share: float64(c.Simulated) / n, Cycles: t.Cycles, Seconds: t.Seconds, CPI: t.Cycles / n, Work: t.Work,
			Waits: make(map[string]float64), Warning: strings.Join(errorTexts(t.Warnings), "; "),
		}
		if t.Seconds == 0 {
			row.Seconds = math.NaN()
		}
		for l, name := range c.Rates.Levels {
			row.Waits["pred_"+strings.ReplaceAll(name, " ", "_")+"_wait_cycles"] = t.Waits[l]
		}
		rows = append(rows, row)
	}
	return rows, nil
}
