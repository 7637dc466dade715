package notebook

import (
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf"
	"presage/perf/frame"
)

// Recorded returns a table that perf.Record wrote, unchanged since.
func Recorded(path string) dataframe.DataFrame {
	return Must(perf.Recorded(path))
}

// ReadCSV returns the table of a CSV file with a header line.
func ReadCSV(path string) dataframe.DataFrame {
	f := Must(os.Open(path))
	defer f.Close()
	df, err := frame.ReadCSV(f)
	if err != nil {
		fail(fmt.Errorf("%s: %w", path, err))
	}
	return df
}

// Where returns the rows whose column holds, as text, one of values, of a
// DataFrame or a slice of structs.
func Where(table any, column string, values ...string) dataframe.DataFrame {
	return Must(frame.Where(Must(frame.From(table)), column, values...))
}

// Stack returns the rows of all tables, one table below the other; see frame.Stack.
func Stack(tables ...dataframe.DataFrame) dataframe.DataFrame { return Must(frame.Stack(tables...)) }

// Floats returns a column of a DataFrame or a slice of structs as numbers.
func Floats(table any, column string) []float64 {
	return Must(frame.Floats(Must(frame.From(table)), column))
}

// Strings returns a column of a DataFrame or a slice of structs as text.
func Strings(table any, column string) []string {
	return Must(frame.Strings(Must(frame.From(table)), column))
}

// Abs returns the absolute values.
func Abs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Abs(v)
	}
	return out
}

// Median returns the median of the values that are not NaN, the mean of the middle
// two if their number is even, or NaN if there are none.
func Median(values []float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
