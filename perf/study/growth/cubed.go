package growth

import (
	"fmt"
	"math"

	"presage/perf/frame"
	"presage/perf/internal/num"
)

// Cubed returns a table of judgements (Findings.Misses, or misses.Validate) of one
// program, with a baseline that knows nothing of caches: what largest, a table of
// misses.Simulate at the largest training size, has at the same level of the same
// machine, times the cube of the ratio of the sizes n. It adds pred_misses_n3 and
// rel_err_n3, against sim_misses, which are missing for scopes other than the program.
//
// It returns an error if a column is missing, or largest has not exactly one row for
// each level of the judgements.
func Cubed(judged, largest frame.Table) (frame.Table, error) {
	type level struct{ machine, name string }
	type simulated struct{ n, misses float64 }
	base := make(map[level]simulated)
	text, figures, err := columns(largest, []string{"machine", "level"}, []string{"n", "sim_misses"})
	if err != nil {
		return judged, err
	}
	for i := range figures[0] {
		key := level{text[0][i], text[1][i]}
		if _, twice := base[key]; twice {
			return judged, fmt.Errorf("perf: study: %s of %s was simulated more than once at the largest size", key.name, key.machine)
		}
		base[key] = simulated{figures[0][i], figures[1][i]}
	}
	text, figures, err = columns(judged, []string{"machine", "level", "of"}, []string{"n", "sim_misses"})
	if err != nil {
		return judged, err
	}
	n, sim := figures[0], figures[1]
	pred, errs := make([]float64, len(n)), make([]float64, len(n))
	for i := range n {
		if text[2][i] != "program" {
			pred[i], errs[i] = math.NaN(), math.NaN()
			continue
		}
		key := level{text[0][i], text[1][i]}
		b, ok := base[key]
		if !ok {
			return judged, fmt.Errorf("perf: study: %s of %s was not simulated at the largest training size", key.name, key.machine)
		}
		pred[i] = b.misses * math.Pow(n[i]/b.n, 3)
		errs[i] = num.RelErr(pred[i], sim[i])
	}
	return frame.WithFloats(frame.WithFloats(judged, "pred_misses_n3", pred), "rel_err_n3", errs), nil
}

// columns returns columns of texts and of numbers.
func columns(table frame.Table, texts, numbers []string) (text [][]string, figures [][]float64, err error) {
	for _, name := range texts {
		values, err := frame.Strings(table, name)
		if err != nil {
			return nil, nil, err
		}
		text = append(text, values)
	}
	for _, name := range numbers {
		values, err := frame.Floats(table, name)
		if err != nil {
			return nil, nil, err
		}
		figures = append(figures, values)
	}
	return text, figures, nil
}

// CubedBeyond returns the relative errors of the same baseline for a column of
// simulated or measured figures, at the sizes n beyond most: against each, what the
// largest size up to most has in a row with the same values of the columns by, times
// the cube of the ratio of the sizes. Rows up to most are missing (NaN). It returns an
// error if a row beyond most has no such row, or a column is missing.
func CubedBeyond(table frame.Table, column string, most float64, by ...string) ([]float64, error) {
	text, figures, err := columns(table, by, []string{"n", column})
	if err != nil {
		return nil, err
	}
	n, figure := figures[0], figures[1]
	key := func(i int) string {
		var k string
		for _, values := range text {
			k += values[i] + "\x00"
		}
		return k
	}
	base := make(map[string]int)
	for i := range n {
		if b, ok := base[key(i)]; n[i] <= most && (!ok || n[b] < n[i]) {
			base[key(i)] = i
		}
	}
	errs := make([]float64, len(n))
	for i := range n {
		if !(n[i] > most) {
			errs[i] = math.NaN()
			continue
		}
		b, ok := base[key(i)]
		if !ok {
			return nil, fmt.Errorf("perf: study: nothing to grow to n=%g: no row of n up to %g has the same %v", n[i], most, by)
		}
		errs[i] = num.RelErr(figure[b]*math.Pow(n[i]/n[b], 3), figure[i])
	}
	return errs, nil
}
