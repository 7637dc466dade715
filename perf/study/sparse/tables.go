package sparse

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/spmv"
)

// Averages returns the mean performance of the samples (train and validate) of
// one matrix at each value of a parameter, over all values that the others have
// (2012, Figures 12 and 13): a column of the table of SpMVSamples. Numbers are
// gathered between edges, if there are any: [edge, next edge). The table has the
// columns value, samples, sim_mflop_per_sec.
func Averages(samples dataframe.DataFrame, matrix, parameter string, edges ...float64) (dataframe.DataFrame, error) {
	type row struct {
		Value   string  `frame:"value"`
		Samples int     `frame:"samples"`
		Flops   float64 `frame:"sim_mflop_per_sec"`
	}
	df, err := frame.Where(samples, "matrix", matrix)
	if err != nil {
		return df, err
	}
	if df, err = frame.Where(df, "role", "train", "validate"); err != nil {
		return df, err
	}
	if df.Nrow() == 0 {
		return df, fmt.Errorf("perf: spmv: no samples of matrix %s", matrix)
	}
	flops, err := frame.Floats(df, "sim_mflop_per_sec")
	if err != nil {
		return df, err
	}
	labels, order, err := spmvLabels(df, parameter, edges)
	if err != nil {
		return df, err
	}
	sum, count := make(map[string]float64), make(map[string]int)
	for i, l := range labels {
		sum[l] += flops[i]
		count[l]++
	}
	var rows []row
	for _, l := range order {
		if count[l] > 0 {
			rows = append(rows, row{l, count[l], sum[l] / float64(count[l])})
		}
	}
	return frame.Of(rows), nil
}

// spmvLabels returns the value, as text, that each row has of a parameter, and all
// values in order.
func spmvLabels(df dataframe.DataFrame, parameter string, edges []float64) (labels, order []string, err error) {
	if parameter == "data_replacement" || parameter == "instr_replacement" {
		labels, err = frame.Strings(df, parameter)
		return labels, []string{"LRU", "NMRU", "random"}, err
	}
	values, err := frame.Floats(df, parameter)
	if err != nil {
		return nil, nil, err
	}
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	if len(edges) == 0 {
		for _, v := range values {
			labels = append(labels, strconv.FormatFloat(v, 'f', -1, 64))
		}
		for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
			order = append(order, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return labels, order, nil
	}
	if len(edges) < 2 || !slices.IsSorted(edges) {
		return nil, nil, fmt.Errorf("perf: spmv: edges %v: want at least two, ascending", edges)
	}
	for i := range len(edges) - 1 {
		order = append(order, short(edges[i])+"–"+short(edges[i+1]))
	}
	for _, v := range values {
		i, found := slices.BinarySearch(edges, v)
		if !found {
			i--
		}
		if i < 0 || i >= len(order) {
			return nil, nil, fmt.Errorf("perf: spmv: %s is %g, outside the edges %v", parameter, v, edges)
		}
		labels = append(labels, order[i])
	}
	return labels, order, nil
}

// Topology returns performance on the baseline's caches of one matrix at all
// block sizes, simulated and predicted, from a table of Predictions (2012, Figure
// 15): block_rows, block_columns, fill_ratio, sim_mflop_per_sec,
// pred_mflop_per_sec, and sim_speedup and pred_speedup over 1×1.
func Topology(predictions dataframe.DataFrame, matrix string) (dataframe.DataFrame, error) {
	df, err := frame.Where(predictions, "matrix", matrix)
	if err != nil {
		return df, err
	}
	if df, err = frame.Where(df, "role", "baseline"); err != nil {
		return df, err
	}
	if df.Nrow() != len(spmv.Shapes()) {
		return df, fmt.Errorf("perf: spmv: matrix %s has %d rows of the role baseline, want %d", matrix, df.Nrow(), len(spmv.Shapes()))
	}
	out := df.Select([]string{"block_rows", "block_columns", "fill_ratio", "sim_mflop_per_sec", "pred_mflop_per_sec"})
	for _, of := range []string{"sim", "pred"} {
		flops, err := frame.Floats(df, of+"_mflop_per_sec")
		if err != nil {
			return df, err
		}
		speedup := make([]float64, len(flops))
		for i, f := range flops {
			speedup[i] = f / flops[0]
		}
		out = frame.WithFloats(out, of+"_speedup", speedup)
	}
	return out, out.Error()
}

// CacheEnergy returns the energy of an access to each cache of Table 5, with
// lines of 32 bytes: what the study's power adds up from (spmv.AccessJoules).
func CacheEnergy() dataframe.DataFrame {
	type row struct {
		Bytes  int     `frame:"cache_bytes"`
		Ways   int     `frame:"ways"`
		Energy float64 `frame:"access_energy_pj"`
	}
	var rows []row
	for kb := 2; kb <= 256; kb *= 2 {
		for ways := 1; ways <= 8; ways *= 2 {
			rows = append(rows, row{kb << 10, ways, 1e12 * spmv.AccessJoules(kb<<10, 32, ways)})
		}
	}
	return frame.Of(rows)
}
