package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/store"
	"slices"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"
)

// Recording says where a recorded table comes from: experiments that take long
// are run once, and notebooks and tests read what they gave.
type Recording struct {
	File    string // in the folder of the list
	Origin  string // what was run, and what kind of truth it is
	Command string // that makes it again
	Date    string // YYYY-MM-DD; Record fills it in
	SHA256  string // of the file; Record fills it in
}

// recordingsName is the list of the recordings of a folder.
const recordingsName = "recordings.csv"

var recordingColumns = []string{"file", "origin", "command", "date", "sha256"}

// Record writes a table as CSV and its origin into recordings.csv beside it, in
// place of what that said about the file.
func Record(path string, df dataframe.DataFrame, origin, command string) error {
	if filepath.Base(path) == recordingsName {
		return fmt.Errorf("perf: record: %s is the list of the recordings: choose another name", path)
	}
	dir := filepath.Dir(path)
	all, err := recordings(dir)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := frame.WriteCSV(&table, df); err != nil {
		return fmt.Errorf("perf: record: %w", err)
	}
	r := Recording{filepath.Base(path), origin, command, time.Now().UTC().Format(time.DateOnly), checksum(table.Bytes())}
	if i := slices.IndexFunc(all, func(o Recording) bool { return o.File == r.File }); i >= 0 {
		all[i] = r
	} else {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Recording) int { return strings.Compare(a.File, b.File) })
	var list bytes.Buffer
	records := [][]string{recordingColumns}
	for _, r := range all {
		records = append(records, []string{r.File, r.Origin, r.Command, r.Date, r.SHA256})
	}
	if err := csv.NewWriter(&list).WriteAll(records); err != nil {
		return fmt.Errorf("perf: record: %w", err)
	}
	if err := store.WriteFile(path, table.Bytes()); err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(dir, recordingsName), list.Bytes())
}

// Recorded reads a table that Record wrote. It fails if the file is not the one
// that was recorded.
func Recorded(path string) (dataframe.DataFrame, Recording, error) {
	var none dataframe.DataFrame
	all, err := recordings(filepath.Dir(path))
	if err != nil {
		return none, Recording{}, err
	}
	i := slices.IndexFunc(all, func(r Recording) bool { return r.File == filepath.Base(path) })
	if i < 0 {
		return none, Recording{}, fmt.Errorf("perf: %s does not list %s", filepath.Join(filepath.Dir(path), recordingsName), filepath.Base(path))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return none, all[i], fmt.Errorf("perf: %w", err)
	}
	if checksum(text) != all[i].SHA256 {
		return none, all[i], fmt.Errorf("perf: %s was changed after it was recorded; make it again: %s", path, all[i].Command)
	}
	df, err := frame.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return none, all[i], fmt.Errorf("perf: %s: %w", path, err)
	}
	return df, all[i], nil
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// recordings reads the list of a folder; one that is missing is empty.
func recordings(dir string) ([]Recording, error) {
	path := filepath.Join(dir, recordingsName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("perf: recordings: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], recordingColumns) {
		return nil, fmt.Errorf("perf: %s:1: want the columns %s", path, strings.Join(recordingColumns, ","))
	}
	var all []Recording
	for _, r := range records[1:] {
		all = append(all, Recording{r[0], r[1], r[2], r[3], r[4]})
	}
	return all, nil
}
