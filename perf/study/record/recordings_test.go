package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/frame"
)

type number struct {
	X float64 `frame:"x"`
}

func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.csv")
	table := func(x float64) error {
		return Write(path, []number{{x}}, Source{Origin: "simulated, here", Command: "make x"})
	}
	if err := table(1); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(filepath.Join(dir, "a.csv"), []byte("y\nz\n"), Source{Origin: "measured", Command: "make y"}); err != nil {
		t.Fatal(err)
	}
	if err := table(0.25); err != nil {
		t.Fatal(err)
	}
	r, err := Read[number](path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Origin != "simulated, here" || r.Command != "make x" || r.File != "b.csv" || len(r.Date) != 10 || len(r.Rows) != 1 || r.Rows[0].X != 0.25 {
		t.Errorf("got %+v", r)
	}
	if r, err := ReadText(filepath.Join(dir, "a.csv")); err != nil || string(r.CSV) != "y\nz\n" || r.Origin != "measured" {
		t.Errorf("the other recording: %+v, %v", r, err)
	}
	if _, err := Read[number](filepath.Join(dir, "a.csv")); err == nil || !strings.Contains(err.Error(), `no column "x"`) {
		t.Errorf("rows of another table: %v", err)
	}
	if err := os.WriteFile(path, []byte("x\n0.5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		path:                                 "was changed after it was recorded; make it again: make x",
		filepath.Join(dir, "c.csv"):          "does not list c.csv",
		filepath.Join(dir, "d", "c.csv"):     "does not list",
		filepath.Join(dir, "recordings.csv"): "does not list",
	} {
		if _, err := Read[number](path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if err := Write(filepath.Join(dir, "recordings.csv"), []number{{1}}, Source{}); err == nil {
		t.Error("a recording in place of the list")
	}
	if err := os.WriteFile(filepath.Join(dir, "recordings.csv"), []byte("file\nb.csv\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := table(1); err == nil || !strings.Contains(err.Error(), "want the columns") {
		t.Errorf("a damaged list: %v", err)
	}
}

// TestRepositoryRecordings demands that every list of recordings in the
// repository, read and written again, is the same bytes, and that every file it
// names is unchanged and reads as a table.
func TestRepositoryRecordings(t *testing.T) {
	tables := 0
	for _, pattern := range []string{"../../../datasets/*/recordings.csv", "../../../datasets/*/*/recordings.csv"} {
		lists, err := filepath.Glob(pattern)
		if err != nil || len(lists) == 0 {
			t.Fatalf("%s: %d lists, %v", pattern, len(lists), err)
		}
		for _, list := range lists {
			all, err := recordings(filepath.Dir(list))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := writeRecordings(dir, all); err != nil {
				t.Fatal(err)
			}
			if a, b := read(t, list), read(t, filepath.Join(dir, recordingsName)); a != b {
				t.Errorf("%s: read and written again:\n%s\nrecorded:\n%s", list, b, a)
			}
			for _, r := range all {
				tables++
				text, err := ReadText(filepath.Join(filepath.Dir(list), r.File))
				if err != nil {
					t.Error(err)
					continue
				}
				if _, err := frame.ReadCSV(bytes.NewReader(text.CSV)); err != nil {
					t.Errorf("%s: %v", r.File, err)
				}
			}
		}
	}
	if tables < 80 {
		t.Errorf("%d recorded tables, want at least 80", tables)
	}
}
