package perf

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
)

// table turns the rows that a package returns into a DataFrame, unless err.
func table[R any](rows []R, err error) (dataframe.DataFrame, error) {
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}
