package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// smallMarket writes a matrix of 2×2 blocks along a band.
func smallMarket(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	const n = 120
	entries := 0
	for i := range n / 2 {
		for j := max(0, i-1); j <= min(n/2-1, i+1); j++ {
			for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
				b.WriteString(strings.Join([]string{strconv.Itoa(2*i + at[0] + 1), strconv.Itoa(2*j + at[1] + 1), "1.5\n"}, " "))
				entries++
			}
		}
	}
	path := filepath.Join(t.TempDir(), "band.mtx")
	head := "%%MatrixMarket matrix coordinate real general\n" + strconv.Itoa(n) + " " + strconv.Itoa(n) + " " + strconv.Itoa(entries) + "\n"
	if err := os.WriteFile(path, []byte(head+b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSpMVTune(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	path := smallMarket(t)
	out := must(t, "spmv", "tune", path, "--repeats", "1", "--train", "200", "--validate", "20", "--caches", "-q")
	for _, want := range []string{"band: 120×120", "Store it in blocks of ", "mflop_median_abs_rel_err", "coordinated", "exhaustive"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	table := must(t, "spmv", "tune", path, "--repeats", "1", "--verify", "--format", "csv", "-q")
	if got := header(t, table); strings.Count(table, "\n") != 65 || got[2] != "est_fill_ratio" || got[4] != "meas_mflop_per_sec" {
		t.Errorf("%d lines, columns %v", strings.Count(table, "\n"), got)
	}
	bad := filepath.Join(t.TempDir(), "bad.mtx")
	if err := os.WriteFile(bad, []byte("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"tune " + bad:                                     "bad.mtx:3: ",
		"tune nothing.mtx":                                "no such file",
		"tune " + path + " --format xml":                  "xml",
		"tune " + path + " --objective fun":               `"fun"`,
		"study --record x --only nothing":                 `no matrix "nothing"`,
		"study --record x --only memplus --parts nothing": `"nothing"`,
		"study": "record",
	} {
		_, _, err := presage(t, append([]string{"spmv"}, strings.Fields(args)...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// TestSpMVStudyRecords checks that a repeated study comes from the store, and that
// its tables equal the recorded ones.
func TestSpMVStudyRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	args := []string{"spmv", "study", "--record", dir, "--only", "bayer02", "--train", "20", "--validate", "5", "--parts", "matrices,samples"}
	_, progress, err := presage(t, args...)
	if err != nil || !strings.Contains(progress, "bayer02: samples: 64 of 64") {
		t.Fatalf("%v: %s", err, progress)
	}
	first, err := os.ReadFile(filepath.Join(dir, "samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	must(t, append(args, "-q")...)
	again, err := os.ReadFile(filepath.Join(dir, "samples.csv"))
	if err != nil || string(again) != string(first) {
		t.Errorf("from the store comes another table (%v)", err)
	}
	df, recording := recorded(t, filepath.Join(dir, "samples.csv"))
	if df.Nrow() != 20+5+64 || !strings.Contains(recording.Command, "presage spmv study") {
		t.Errorf("%d rows, %+v", df.Nrow(), recording)
	}
	if df, _ = recorded(t, filepath.Join(dir, "matrices.csv")); df.Nrow() != 1 || df.Col("stand_in").Elem(0).String() != "true" {
		t.Errorf("%v", df)
	}
}
