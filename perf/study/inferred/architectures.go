package inferred

import (
	"bytes"
	"fmt"
	"os"

	"presage/perf/frame"
	"presage/perf/infer"
)

// ReadArchitectures reads architectures from a CSV file with a column for each
// parameter of Table 2, in any order; other columns are ignored.
func ReadArchitectures(path string) ([]infer.Architecture, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: architectures: %w", err)
	}
	df, err := frame.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	if df.Nrow() == 0 {
		return nil, fmt.Errorf("perf: %s: no architectures below the header", path)
	}
	list := make([]infer.Architecture, df.Nrow())
	for _, y := range infer.HardwareSpace() {
		values, err := frame.Floats(df, y.Name)
		if err != nil {
			return nil, fmt.Errorf("perf: %s: %w", path, err)
		}
		for i, x := range values {
			list[i] = append(list[i], x)
		}
	}
	for i, a := range list {
		if _, err := a.Details(); err != nil {
			return nil, fmt.Errorf("perf: %s: row %d: %w", path, i+1, err)
		}
	}
	return list, nil
}
