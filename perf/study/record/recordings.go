package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"presage/perf/frame"
	"presage/perf/store"
)

// Source says what a recorded table holds and how to make it again.
type Source struct {
	Origin  string // what was run, and what kind of truth it is: simulated, measured, …
	Command string // a shell command that records the table again
}

// Recording is an entry of recordings.csv, the list of a folder's recordings.
type Recording struct {
	File string // name of the CSV file, in the list's folder
	Source
	Date   string // YYYY-MM-DD, in UTC, when the file was written
	SHA256 string // of the file, in hexadecimal
}

// Table is a recorded table as typed rows.
type Table[R any] struct {
	Recording
	Rows []R
}

// Text is a recorded table as it stands in its file.
type Text struct {
	Recording
	CSV []byte
}

// recordingsName is the file that lists the recordings of its folder.
const recordingsName = "recordings.csv"

var recordingColumns = []string{"file", "origin", "command", "date", "sha256"}

// Write writes rows, structs with `frame` tags, as a CSV file, and enters it, dated
// today, into recordings.csv beside it, replacing the file's previous entry.
func Write[R any](path string, rows []R, from Source) error {
	var text bytes.Buffer
	if err := frame.WriteCSV(&text, frame.Of(rows)); err != nil {
		return fmt.Errorf("perf: record: %w", err)
	}
	return WriteText(path, text.Bytes(), from)
}

// WriteText is Write for a table that is CSV text already.
func WriteText(path string, csv []byte, from Source) error {
	if filepath.Base(path) == recordingsName {
		return fmt.Errorf("perf: record: %s is the list of the recordings: choose another name", path)
	}
	dir := filepath.Dir(path)
	all, err := recordings(dir)
	if err != nil {
		return err
	}
	r := Recording{filepath.Base(path), from, time.Now().UTC().Format(time.DateOnly), checksum(csv)}
	if i := slices.IndexFunc(all, func(o Recording) bool { return o.File == r.File }); i >= 0 {
		all[i] = r
	} else {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Recording) int { return strings.Compare(a.File, b.File) })
	if err := store.WriteFile(path, csv); err != nil {
		return err
	}
	return writeRecordings(dir, all)
}

// Read reads a table that Write wrote. It returns an error if recordings.csv does
// not list the file, if the file was changed since, or if a column of it does not
// fit R's field of that name.
func Read[R any](path string) (*Table[R], error) {
	t, err := ReadText(path)
	if err != nil {
		return nil, err
	}
	df, err := frame.ReadCSV(bytes.NewReader(t.CSV))
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	rows, err := frame.Into[R](df)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	return &Table[R]{t.Recording, rows}, nil
}

// ReadText is Read for a table whose columns the caller interprets.
func ReadText(path string) (*Text, error) {
	dir, name := filepath.Split(path)
	all, err := recordings(dir)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(r Recording) bool { return r.File == name })
	if i < 0 {
		return nil, fmt.Errorf("perf: %s does not list %s", filepath.Join(dir, recordingsName), name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	if checksum(text) != all[i].SHA256 {
		return nil, fmt.Errorf("perf: %s was changed after it was recorded; make it again: %s", path, all[i].Command)
	}
	return &Text{all[i], text}, nil
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// recordings returns the entries of a folder's recordings.csv; none if it has no
// such file.
func recordings(dir string) ([]Recording, error) {
	path := filepath.Join(dir, recordingsName)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil, nil
	}
	records, err := readList(path, "recordings", recordingColumns)
	if err != nil {
		return nil, err
	}
	var all []Recording
	for _, r := range records {
		all = append(all, Recording{r[0], Source{r[1], r[2]}, r[3], r[4]})
	}
	return all, nil
}

func writeRecordings(dir string, all []Recording) error {
	var records [][]string
	for _, r := range all {
		records = append(records, []string{r.File, r.Origin, r.Command, r.Date, r.SHA256})
	}
	return writeList(filepath.Join(dir, recordingsName), "record", recordingColumns, records)
}

// Files returns the names of the tables that a folder's recordings.csv lists; none if
// there is no such list.
func Files(dir string) ([]string, error) {
	all, err := recordings(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.File
	}
	return names, nil
}
