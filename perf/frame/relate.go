package frame

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// Join returns the rows of left beside those of right that agree in the columns
// by: an inner join, by hash, in the order of left, then of right. A column
// that both have must be in by.
func Join(left, right dataframe.DataFrame, by ...string) (dataframe.DataFrame, error) {
	return join(left, right, by, false)
}

// LeftJoin is Join, but also keeps rows of left without a match, with missing
// values in the columns of right.
func LeftJoin(left, right dataframe.DataFrame, by ...string) (dataframe.DataFrame, error) {
	return join(left, right, by, true)
}

func join(left, right dataframe.DataFrame, by []string, outer bool) (dataframe.DataFrame, error) {
	added, err := joinColumns(left, right, by)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	rightRows := make(map[string][]int)
	for i, key := range keys(right, by) {
		rightRows[key] = append(rightRows[key], i)
	}
	var fromLeft, fromRight []int
	for i, key := range keys(left, by) {
		matches := rightRows[key]
		if len(matches) == 0 && outer {
			matches = []int{missing}
		}
		for _, j := range matches {
			fromLeft = append(fromLeft, i)
			fromRight = append(fromRight, j)
		}
	}
	columns := take(left, left.Names(), fromLeft)
	columns = append(columns, take(right, added, fromRight)...)
	return dataframe.New(columns...), nil
}

// joinColumns returns the columns that right adds to left.
func joinColumns(left, right dataframe.DataFrame, by []string) (added []string, err error) {
	if err := need(left, by...); err != nil {
		return nil, fmt.Errorf("left of join: %w", err)
	}
	if err := need(right, by...); err != nil {
		return nil, fmt.Errorf("right of join: %w", err)
	}
	for _, name := range right.Names() {
		if slices.Contains(by, name) {
			continue
		}
		if slices.Contains(left.Names(), name) {
			return nil, fmt.Errorf("frame: both sides of the join have a column %q; join by it or rename it", name)
		}
		added = append(added, name)
	}
	return added, nil
}

// Sum returns one row for each distinct combination of the columns by, in
// order of first appearance, with the sums of the columns sum. All other
// columns are left out.
func Sum(df dataframe.DataFrame, by, sum []string) (dataframe.DataFrame, error) {
	if err := need(df, slices.Concat(by, sum)...); err != nil {
		return dataframe.DataFrame{}, err
	}
	first, group := []int(nil), make([]int, df.Nrow())
	index := make(map[string]int)
	for i, key := range keys(df, by) {
		g, ok := index[key]
		if !ok {
			g = len(first)
			index[key] = g
			first = append(first, i)
		}
		group[i] = g
	}
	columns := take(df, by, first)
	for _, name := range sum {
		values, err := Floats(df, name)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		totals := make([]float64, len(first))
		for i, v := range values {
			totals[group[i]] += v
		}
		columns = append(columns, series.New(totals, series.Float, name))
	}
	return dataframe.New(columns...), nil
}

// Where returns the rows whose column name holds, as text, one of values.
func Where(df dataframe.DataFrame, name string, values ...string) (dataframe.DataFrame, error) {
	column, err := Strings(df, name)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var keep []int
	for i, v := range column {
		if slices.Contains(values, v) {
			keep = append(keep, i)
		}
	}
	return dataframe.New(take(df, df.Names(), keep)...), nil
}

// keys returns, for each row, its values in the columns by as one string.
// Numbers appear with all their digits, so that distinct ones stay distinct.
func keys(df dataframe.DataFrame, by []string) []string {
	parts := make([][]string, df.Nrow())
	for _, name := range by {
		col := df.Col(name)
		for i := range parts {
			parts[i] = append(parts[i], Text(col.Elem(i).Val()))
		}
	}
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = strings.Join(p, "\x00")
	}
	return out
}

// missing is the index of an absent row.
const missing = -1

// take returns the given rows of the named columns; the values of a missing row
// are missing.
func take(df dataframe.DataFrame, names []string, rows []int) []series.Series {
	columns := make([]series.Series, len(names))
	for i, name := range names {
		col := df.Col(name)
		switch {
		case len(rows) == 0:
			columns[i] = series.New([]string{}, col.Type(), name)
		case slices.Contains(rows, missing):
			values := make([]any, len(rows))
			for r, row := range rows {
				if row != missing {
					values[r] = col.Elem(row).Val()
				}
			}
			columns[i] = series.New(values, col.Type(), name)
		default:
			columns[i] = col.Subset(rows)
		}
	}
	return columns
}
