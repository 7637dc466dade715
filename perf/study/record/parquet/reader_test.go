package parquet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/study/record"
)

// readElsewhere reads a Parquet file with hyparquet, which shares no code with what
// wrote it: its columns' names, its metadata and its rows, nil where a value is missing.
func readElsewhere(t *testing.T, path string) (columns []string, metadata map[string]string, rows [][]*string) {
	t.Helper()
	node := oracle.Need(t, "node")
	packages := oracle.NeedFolder(t, filepath.Join("..", "..", "..", "..", "build", "hyparquet"))
	out, err := exec.Command(node, filepath.Join("testdata", "hyparquet", "read.mjs"), path, packages).Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for i := 0; lines.Scan(); i++ {
		var row []*string
		to := any(&row)
		switch i {
		case 0:
			to = &columns
		case 1:
			to = &metadata
		}
		if err := json.Unmarshal(lines.Bytes(), to); err != nil {
			t.Fatalf("line %d: %v: %s", i+1, err, lines.Text())
		}
		if i > 1 {
			rows = append(rows, row)
		}
	}
	return columns, metadata, rows
}

// TestReadElsewhere holds what another reader makes of recorded tables against the CSV
// text, cell by cell.
func TestReadElsewhere(t *testing.T) {
	for _, path := range []string{
		filepath.Join("validation", "suite-open-misses.csv"),
		filepath.Join("inferred", "architectures.csv"),
		filepath.Join("inferred", "shards.csv"),
	} {
		table, err := record.ReadText(filepath.Join("..", "..", "..", "..", "datasets", path))
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(bytes.NewReader(table.CSV)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, table); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "table.parquet")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		columns, metadata, rows := readElsewhere(t, file)
		if len(columns) != len(want[0]) || len(rows) != len(want)-1 {
			t.Fatalf("%s: %d columns, %d rows, want %d, %d", path, len(columns), len(rows), len(want[0]), len(want)-1)
		}
		if metadata[FileKey] != filepath.Base(path) || metadata[OriginKey] != table.Origin || metadata[SHA256Key] == "" {
			t.Errorf("%s: metadata %v", path, metadata)
		}
		for i, row := range rows {
			for j, got := range row {
				if columns[j] != want[0][j] || !sameText(got, want[i+1][j]) {
					t.Fatalf("%s: row %d, column %s: %v, want %q", path, i, columns[j], got, want[i+1][j])
				}
			}
		}
	}
}

// sameText says whether a value as another reader prints it, nil if it is missing, is that
// of a cell: the same text, or a number of the same bits.
func sameText(got *string, cell string) bool {
	if got == nil {
		return cell == ""
	}
	if *got == cell {
		return true
	}
	x, err := strconv.ParseFloat(*got, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(cell, 64)
	return err == nil && math.Float64bits(x) == math.Float64bits(y)
}
