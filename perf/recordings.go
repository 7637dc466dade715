package perf

import (
	"bytes"
	"fmt"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/study/record"
)

// Record writes a table as a CSV file and enters it, with its source, the date and
// a checksum, into recordings.csv beside it.
func Record(path string, table dataframe.DataFrame, from record.Source) error {
	var text bytes.Buffer
	if err := frame.WriteCSV(&text, table); err != nil {
		return fmt.Errorf("perf: record: %w", err)
	}
	return record.WriteText(path, text.Bytes(), from)
}

// Recorded reads a table that Record wrote. It returns an error if the file was
// changed since. Package record reads typed rows, and where a table comes from.
func Recorded(path string) (dataframe.DataFrame, error) {
	t, err := record.ReadText(path)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	df, err := frame.ReadCSV(bytes.NewReader(t.CSV))
	if err != nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: %s: %w", path, err)
	}
	return df, nil
}
