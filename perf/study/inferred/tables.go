package inferred

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"presage/perf/infer"
	"presage/perf/shard"
)

// ScenarioAccuracy sums up the predictions of a scenario. Errors are |predicted -
// simulated| / simulated: their quartiles and 90th percentile.
type ScenarioAccuracy struct {
	Scenario    string  `frame:"scenario"`
	Of          string  `frame:"of"` // shards or programs
	Profiles    int     `frame:"update_profiles"`
	Application string  `frame:"application"` // all for all of them
	Rows        int     `frame:"rows"`
	Lower       float64 `frame:"lower_rel_err"`
	Median      float64 `frame:"median_rel_err"`
	Upper       float64 `frame:"upper_rel_err"`
	P90         float64 `frame:"p90_rel_err"`
	Correlation float64 `frame:"correlation"`
}

// Accuracy sums up predictions of shards and of programs: a row for each scenario,
// number of profiles that models were updated with, and application, and one for
// all applications.
func Accuracy(predictions []Prediction) []ScenarioAccuracy {
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
	var rows []ScenarioAccuracy
	for _, k := range order {
		a := infer.Judge(predicted[k], simulated[k])
		rows = append(rows, ScenarioAccuracy{k.scenario, k.of, k.profiles, k.application, a.Rows, a.Lower, a.Median, a.Upper, a.P90, a.Correlation})
	}
	return rows
}

// symbols returns the symbols of all variables by name.
func symbols() map[string]string {
	symbols := make(map[string]string)
	for _, z := range Shares() {
		symbols[z.Name] = z.Symbol
	}
	for _, x := range shard.Characteristics() {
		symbols[x.Name] = x.Symbol
	}
	for _, y := range infer.HardwareSpace() {
		symbols[y.Name] = y.Symbol
	}
	return symbols
}

// Symbols returns the symbols of variables: of Tables 1 and 2 of 2012, and z for
// shares.
func Symbols(variables []string) []string {
	all := symbols()
	var list []string
	for _, name := range variables {
		list = append(list, all[name])
	}
	return list
}

// Variable describes a variable of the set Paper.
type Variable struct {
	Symbol string  `frame:"symbol"`
	Name   string  `frame:"variable"`
	Text   string  `frame:"meaning"`
	Values string  `frame:"values"`          // of a parameter of hardware
	Power  string  `frame:"power"`           // of the ladder, that stabilises the variance
	Before float64 `frame:"skewness_before"` // over the profiles that models are fitted to
	After  float64 `frame:"skewness_after"`
}

// DescribeVariables describes the variables of the set Paper in some profiles.
func DescribeVariables(p *Profiles) []Variable {
	var rows []Variable
	t := p.Table(p.training(), Paper)
	for _, c := range shard.Characteristics() {
		rows = append(rows, Variable{Symbol: c.Symbol, Name: c.Name, Text: c.Text})
	}
	for _, y := range infer.HardwareSpace() {
		rows = append(rows, Variable{Symbol: y.Symbol, Name: y.Name, Text: y.Text, Values: strings.Trim(fmt.Sprint(y.Values), "[]")})
	}
	for i := range rows {
		s := infer.NewScale(rows[i].Name, t.Columns[i])
		rows[i].Power = power(s.Power)
		rows[i].Before = stat.Skew(t.Columns[i], nil)
		rows[i].After = stat.Skew(scaled(s, t.Columns[i]), nil)
	}
	return rows
}

// power returns a power of the ladder as text.
func power(p float64) string {
	switch p {
	case 0:
		return "log"
	case 1:
		return "1"
	}
	return fmt.Sprintf("1/%.0f", 1/p)
}

// ladderStep returns what a power of the ladder does.
func ladderStep(p float64) string {
	if p == 0 {
		return "logarithm"
	}
	return "to the power " + power(p)
}

// scaled returns scaled values, which must be those that the scale was made of.
func scaled(s infer.Scale, values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		u, err := s.Unit(x)
		if err != nil {
			panic(err) // the scale was made of them
		}
		out[i] = u
	}
	return out
}

// Tail is a shard in a panel of Figure 3 of 2012.
type Tail struct {
	Panel string  `frame:"panel"`
	Value float64 `frame:"value"`
}

// Tails returns, for each shard, the sum of distances in instructions between
// accesses to blocks of data, before and after the power that stabilises its
// variance, as Figure 3 of 2012.
func Tails(p *Profiles) []Tail {
	var sums []float64
	for _, s := range p.known() {
		sums = append(sums, s.Characteristics["data_reuse_instructions"]*float64(s.DataReuses))
	}
	scale := infer.NewScale("sum", sums)
	var rows []Tail
	for _, x := range sums {
		rows = append(rows, Tail{"(a) sum of distances (million instructions)", x / 1e6})
	}
	for _, u := range scaled(scale, sums) {
		rows = append(rows, Tail{"(b) the same, " + ladderStep(scale.Power) + ", scaled to [-1, 1]", u})
	}
	return rows
}

// Difference is how far the mean of a characteristic in an application lies from
// that in the others.
type Difference struct {
	Application string  `frame:"application"`
	Symbol      string  `frame:"symbol"`
	Name        string  `frame:"characteristic"`
	Difference  float64 `frame:"difference_sd"` // in standard deviations over all shards
}

// Differences compares each application that models are fitted to with the others,
// as Figure 9(a) of 2012.
func Differences(p *Profiles) []Difference {
	var rows []Difference
	for _, a := range p.Applications() {
		for _, c := range shard.Characteristics() {
			var own, others, all []float64
			for _, s := range p.known() {
				x := s.Characteristics[c.Name]
				all = append(all, x)
				if s.Application == a {
					own = append(own, x)
				} else {
					others = append(others, x)
				}
			}
			d := stat.Mean(own, nil) - stat.Mean(others, nil)
			if sd := stat.StdDev(all, nil); sd > 0 {
				d /= sd
			}
			rows = append(rows, Difference{a, c.Symbol, c.Name, d})
		}
	}
	return rows
}

// PredictionError is a prediction with its absolute relative error.
type PredictionError struct {
	Prediction
	Error float64 `frame:"abs_rel_err"`
}

// Errors returns predictions with their errors.
func Errors(predictions []Prediction) []PredictionError {
	rows := make([]PredictionError, len(predictions))
	for i, p := range predictions {
		rows[i] = PredictionError{p, math.Abs(p.Predicted-p.Simulated) / p.Simulated}
	}
	return rows
}
