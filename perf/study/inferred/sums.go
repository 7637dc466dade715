package inferred

import "fmt"

// Sums returns the same rows as list with what the estimate of a set of variables,
// LimitSet, Counted or Histograms, says alone, without any regression, as Predicted: the baseline
// of models that correct it. A program's is the mean over the shards that judge it. It returns
// an error if a row has no profile that judges.
func (p *Profiles) Sums(list []Prediction, set Set) ([]Prediction, error) {
	if set != LimitSet && !set.meets() {
		return nil, fmt.Errorf("perf: infer: the variables %s have no estimate to sum up", set)
	}
	type pair struct {
		variant      string
		architecture int
	}
	judging := make(map[pair][]int) // rows of profiles
	var profiles []Profile
	for _, q := range p.Profiles {
		if q.Use == Check || q.Use == New {
			key := pair{q.Variant, q.Architecture}
			judging[key] = append(judging[key], len(profiles))
			profiles = append(profiles, q)
		}
	}
	estimates := p.Table(profiles, set).Estimate
	out := make([]Prediction, len(list))
	for i, row := range list {
		sum, n := 0.0, 0
		for _, k := range judging[pair{row.Variant, row.Architecture}] {
			if row.Shard < 0 || row.Shard == profiles[k].Shard {
				sum += estimates[k]
				n++
			}
		}
		if n == 0 {
			return nil, fmt.Errorf("perf: infer: no profile judges shard %d of %s on architecture %d", row.Shard, row.Variant, row.Architecture)
		}
		out[i] = row
		out[i].Predicted = sum / float64(n)
	}
	return out, nil
}
