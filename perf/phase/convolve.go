package phase

import (
	"fmt"
	"math"
	"strings"

	"presage/perf/frame"
	"presage/perf/metasim"

	"github.com/go-gota/gota/dataframe"
)

// convolvedRow is a row of the table of Convolve.
type convolvedRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Sampling string             `frame:"sampling"`
	Warmup   string             `frame:"warmup"`
	Share    float64            `frame:"simulated_share"`
	Cycles   float64            `frame:"pred_cycles"`
	Seconds  float64            `frame:"pred_time_sec"`
	CPI      float64            `frame:"pred_cpi"`
	Work     float64            `frame:"pred_work_cycles"`
	Waits    map[string]float64 `frame:",each"`
	Warning  string             `frame:"pred_time_warning"`
}

// Convolve predicts how long the run takes from which samples were taken, on the
// machine whose caches they simulated: the MetaSim convolver (2005, section 1),
// which maps what each basic block does (executions, memory references, hit
// ratios) to what the machine can do (throughputs, costs of misses). A row for
// each sample:
//
//   - pred_cycles, pred_cpi; pred_time_sec, missing where the machine's frequency
//     is not known
//   - pred_work_cycles: instructions and hits, by throughputs alone; dependences
//     between instructions and wrong guesses at branches are not modelled
//   - pred_<level>_wait_cycles: for misses; with work they add up to pred_cycles
//   - pred_time_warning: what was assumed that the machine's description does not
//     say
//
// SimulateTime has the reference, and PredictTime a model that knows dependences.
func Convolve(samples ...*CacheSample) (dataframe.DataFrame, error) {
	var rows []convolvedRow
	for _, c := range samples {
		t, err := metasim.Convolve(&metasim.Signature{Code: c.Phases.Code, Executions: c.Phases.Executions, Rates: c.Rates}, metasim.ProfileOf(c.Machine))
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: %s: %w", c.Phases.Name, err)
		}
		n := float64(c.Phases.Instructions)
		row := convolvedRow{
			Program: c.Phases.Name, Point: c.Phases.Point, Machine: c.Machine.Name, Sampling: c.Sampling.Title(), Warmup: c.Sampling.Warmth(),
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
	return frame.Of(rows), nil
}
