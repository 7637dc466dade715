// Package recordtest compares typed rows with recorded tables. Tests alone import
// it.
package recordtest

import (
	"os"
	"path/filepath"
	"testing"

	"presage/perf/study/record"
)

// Same reads the recorded tables that match a pattern as rows of type R and
// writes them again, which must give the same bytes: no column is lost, and no
// value changed. It returns the rows of all of them.
func Same[R any](t testing.TB, pattern string) []R {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	var rows []R
	for _, path := range paths {
		table, err := record.Read[R](path)
		if err != nil {
			t.Fatal(err)
		}
		again := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := record.Write(again, table.Rows, table.Source); err != nil {
			t.Fatal(err)
		}
		if a, b := read(t, path), read(t, again); a != b {
			t.Errorf("%s: %s", path, difference(a, b))
		}
		rows = append(rows, table.Rows...)
	}
	return rows
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
