package record

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"

	"presage/perf/store"
)

// readList returns the records below the header of a CSV file, which must have
// exactly the given columns. what names the list in errors.
func readList(path, what string, columns []string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", what, err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], columns) {
		return nil, fmt.Errorf("perf: %s:1: want the columns %s", path, strings.Join(columns, ","))
	}
	return records[1:], nil
}

// writeList writes a header and records as a CSV file.
func writeList(path, what string, columns []string, records [][]string) error {
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(append([][]string{columns}, records...)); err != nil {
		return fmt.Errorf("perf: %s: %w", what, err)
	}
	return store.WriteFile(path, text.Bytes())
}
