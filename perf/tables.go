package perf

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
)

// Frame turns rows into a table: a column for each field that has a frame tag.
// Packages below this one return rows; their types describe the columns.
func Frame[R any](rows []R) dataframe.DataFrame { return frame.Of(rows) }

// table turns what a package returned into a table.
func table[R any](rows []R, err error) (dataframe.DataFrame, error) {
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}
