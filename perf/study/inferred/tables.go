package inferred

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/gonum/stat"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/shard"
)

// accuracyRow is a row of the table of InferAccuracy.
type accuracyRow struct {
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

// Accuracy sums up predictions, a row for each scenario, number of profiles
// that models were updated with, and application, and one for all of them: of
// shards, and of programs.
func Accuracy(predictions []Prediction) dataframe.DataFrame {
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
	var rows []accuracyRow
	for _, k := range order {
		a := infer.Judge(predicted[k], simulated[k])
		rows = append(rows, accuracyRow{k.scenario, k.of, k.profiles, k.application, a.Rows, a.Lower, a.Median, a.Upper, a.P90, a.Correlation})
	}
	return frame.Of(rows)
}

// inferSymbols are the symbols of Tables 1 and 2, by name of the variable.
func inferSymbols() map[string]string {
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

// Symbols returns the symbols of variables in Tables 1 and 2 of 2012.
func Symbols(variables []string) []string {
	all := inferSymbols()
	var symbols []string
	for _, name := range variables {
		symbols = append(symbols, all[name])
	}
	return symbols
}

// VariableTable lists the variables: symbol, name and what it is, for those
// of hardware the values, and the power of the ladder that stabilises variance
// over the profiles that models are fitted to, with the skewness before and after.
func VariableTable(p *Profiles) dataframe.DataFrame {
	type row struct {
		Symbol string  `frame:"symbol"`
		Name   string  `frame:"variable"`
		Text   string  `frame:"meaning"`
		Values string  `frame:"values"`
		Power  string  `frame:"power"`
		Before float64 `frame:"skewness_before"`
		After  float64 `frame:"skewness_after"`
	}
	var rows []row
	t := p.Table(p.training(), Paper)
	for _, c := range shard.Characteristics() {
		rows = append(rows, row{Symbol: c.Symbol, Name: c.Name, Text: c.Text})
	}
	for _, y := range infer.HardwareSpace() {
		rows = append(rows, row{Symbol: y.Symbol, Name: y.Name, Text: y.Text, Values: strings.Trim(fmt.Sprint(y.Values), "[]")})
	}
	for i := range rows {
		s := infer.NewScale(rows[i].Name, t.Columns[i])
		rows[i].Power = power(s.Power)
		rows[i].Before = stat.Skew(t.Columns[i], nil)
		rows[i].After = stat.Skew(scaled(s, t.Columns[i]), nil)
	}
	return frame.Of(rows)
}

func (p *Profiles) training() (list []Profile) {
	for _, q := range p.Profiles {
		if q.Use == Train {
			list = append(list, q)
		}
	}
	return list
}

// power writes a power of the ladder.
func power(p float64) string {
	switch p {
	case 0:
		return "log"
	case 1:
		return "1"
	}
	return fmt.Sprintf("1/%.0f", 1/p)
}

// inferStep says what a power of the ladder does.
func inferStep(p float64) string {
	if p == 0 {
		return "logarithm"
	}
	return "to the power " + power(p)
}

// scaled returns scaled values; they are those that the scale is made of.
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

// Tails are a shard's sum of distances in instructions between accesses to
// blocks of data, before and after the power that stabilises its variance, as
// Figure 3 of 2012: a row for each shard and panel.
func Tails(p *Profiles) dataframe.DataFrame {
	type row struct {
		Panel string  `frame:"panel"`
		Value float64 `frame:"value"`
	}
	var sums []float64
	for _, s := range p.known() {
		sums = append(sums, s.Characteristics["data_reuse_instructions"]*float64(s.DataReuses))
	}
	scale := infer.NewScale("sum", sums)
	var rows []row
	for _, x := range sums {
		rows = append(rows, row{"(a) sum of distances (million instructions)", x / 1e6})
	}
	for _, u := range scaled(scale, sums) {
		rows = append(rows, row{"(b) the same, " + inferStep(scale.Power) + ", scaled to [-1, 1]", u})
	}
	return frame.Of(rows)
}

// Differences are the differences between the mean of each characteristic
// in an application and in the others, as Figure 9(a) of 2012, in standard
// deviations of the characteristic over all shards of applications that models
// are made of: a row for each application and characteristic.
func Differences(p *Profiles) dataframe.DataFrame {
	type row struct {
		Application string  `frame:"application"`
		Symbol      string  `frame:"symbol"`
		Name        string  `frame:"characteristic"`
		Difference  float64 `frame:"difference_sd"`
	}
	var rows []row
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
			rows = append(rows, row{a, c.Symbol, c.Name, d})
		}
	}
	return frame.Of(rows)
}

// Errors is predictions as a table with their absolute relative errors,
// abs_rel_err.
func Errors(predictions []Prediction) dataframe.DataFrame {
	errs := make([]float64, len(predictions))
	for i, p := range predictions {
		errs[i] = math.Abs(p.Predicted-p.Simulated) / p.Simulated
	}
	return frame.WithFloats(frame.Of(predictions), "abs_rel_err", errs)
}
