package sparse

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/spmv"
	"presage/perf/store"
)

// TestRecordingsAreKept reads every recorded table into rows and writes these again:
// the files are the same to the byte.
func TestRecordingsAreKept(t *testing.T) {
	recorded := filepath.Join("..", "..", "..", "datasets", "spmv")
	found, err := Load(recorded)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := found.Record(dir, "again"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(recorded, "*.csv"))
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "energy-") }) // published, by others
	if err != nil || len(files) != len(Parts())+1 {
		t.Fatalf("%v, error %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "recordings.csv" {
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(file)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes were read, %d written (%v)", file, len(want), len(got), err)
		}
	}
}

// TestParts demands that a study makes, records and loads the parts requested, and
// refuses parts that do not exist.
func TestParts(t *testing.T) {
	m := randomMatrix(t, 2)
	study := Options{Parts: []Part{MatricesPart, FillPart}, Store: store.Open(t.TempDir())}
	found, err := study.Run(context.Background(), []*spmv.Matrix{m})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Matrices) != 1 || found.Matrices[0].NonZeros != m.NonZeros() || len(found.Fill) != 64 || found.Samples != nil || found.Tuning != nil || found.Native != nil {
		t.Errorf("%+v", found)
	}
	if f := found.Fill[0]; f.FillRatio != 1 || f.Estimate != 1 || f.Median != 0 || f.High != 0 {
		t.Errorf("blocks of 1×1: %+v", f)
	}
	dir := t.TempDir()
	if err := found.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	read, err := Load(dir, FillPart)
	if err != nil || !slices.Equal(read.Fill, found.Fill) || read.Matrices != nil {
		t.Errorf("%+v, error %v", read, err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "samples.csv") {
		t.Errorf("parts that were not recorded: error %v", err)
	}
	study.Parts = append(study.Parts, "all")
	if _, err := study.Run(context.Background(), nil); err == nil || !strings.Contains(err.Error(), `"all"`) {
		t.Errorf("a part that there is not: error %v", err)
	}
	if _, err := Load(dir, "all"); err == nil || !strings.Contains(err.Error(), `"all"`) {
		t.Errorf("a part that there is not: error %v", err)
	}
}
