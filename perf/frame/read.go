package frame

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// ReadCSV reads a table with a header line, as WriteCSV writes it. A column in
// which every field is a number or empty holds numbers (integers if all are),
// empty fields being missing numbers; any other column, and one that is empty
// throughout, holds text. Lines within a field end in \n. Errors give the line.
func ReadCSV(r io.Reader) (dataframe.DataFrame, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return dataframe.DataFrame{}, errors.New("frame: line 1: no header line")
	}
	if err != nil {
		return dataframe.DataFrame{}, fmt.Errorf("frame: %w", err)
	}
	for i := range header {
		header[i] = unixLines(header[i])
	}
	for i, name := range header {
		if name == "" || slices.Contains(header[:i], name) {
			return dataframe.DataFrame{}, fmt.Errorf("frame: line 1: column %d is called %q: want a name of its own", i+1, name)
		}
	}
	columns := make([][]string, len(header))
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("frame: %w", err)
		}
		for c, field := range record {
			columns[c] = append(columns[c], unixLines(field))
		}
	}
	out := make([]series.Series, len(header))
	for c, name := range header {
		out[c] = typed(columns[c], name)
	}
	df := dataframe.New(out...)
	return df, need(df)
}

// unixLines ends the lines of s in \n alone: encoding/csv takes one \r before it away
// whenever a field is read, so that text would change each time.
func unixLines(s string) string {
	for strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

func typed(fields []string, name string) series.Series {
	if values, ok := integers(fields); ok {
		return series.New(values, series.Int, name)
	}
	if values, ok := numbers(fields); ok {
		return series.New(values, series.Float, name)
	}
	return series.New(fields, series.String, name)
}

// integers returns fields as integers if all are and there is at least one.
func integers(fields []string) ([]int, bool) {
	values := make([]int, len(fields))
	for i, f := range fields {
		v, err := strconv.Atoi(f)
		if err != nil {
			return nil, false
		}
		values[i] = v
	}
	return values, len(values) > 0
}

// numbers returns fields as numbers if all are and at least one is not empty.
func numbers(fields []string) ([]float64, bool) {
	values := make([]float64, len(fields))
	some := false
	for i, f := range fields {
		if f == "" {
			values[i] = math.NaN()
			continue
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, false
		}
		values[i], some = v, true
	}
	return values, some
}
