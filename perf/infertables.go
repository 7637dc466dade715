package perf

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
)

// inferAccuracyRow is a row of the table of InferAccuracy.
type inferAccuracyRow struct {
	Scenario    string  `frame:"scenario"`
	Of          string  `frame:"of"`
	Profiles    int     `frame:"update_profiles"`
	Application string  `frame:"application"`
	Rows        int     `frame:"rows"`
	Lower       float64 `frame:"lower_rel_err"`
	Median      float64 `frame:"median_rel_err"`
	Upper       float64 `frame:"upper_rel_err"`
	P90         float64 `frame:"p90_rel_err"`
	Correlation float64 `frame:"correlation"`
}

// InferAccuracy sums up predictions, a row for each scenario, number of profiles
// that models were updated with, and application, and one for all of them: of
// shards, and of programs.
func InferAccuracy(predictions []InferPrediction) dataframe.DataFrame {
	type key struct {
		scenario, of, application string
		profiles                  int
	}
	var order []key
	predicted, simulated := make(map[key][]float64), make(map[key][]float64)
	for _, p := range predictions {
		of := "shards"
		if p.Shard < 0 {
			of = "programs"
		}
		for _, application := range []string{"all", p.Application} {
			k := key{p.Scenario, of, application, p.Profiles}
			if predicted[k] == nil {
				order = append(order, k)
			}
			predicted[k], simulated[k] = append(predicted[k], p.Predicted), append(simulated[k], p.Simulated)
		}
	}
	var rows []inferAccuracyRow
	for _, k := range order {
		a := infer.Judge(predicted[k], simulated[k])
		rows = append(rows, inferAccuracyRow{k.scenario, k.of, k.profiles, k.application, a.Rows, a.Lower, a.Median, a.Upper, a.P90, a.Correlation})
	}
	return frame.Of(rows)
}
