package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
)

// sizedBinary compiles the program of package perf's tests for a size.
func sizedBinary(t *testing.T, dir string, n int) string {
	t.Helper()
	exe := filepath.Join(dir, fmt.Sprintf("sized.%d", n))
	args := []string{"-O3", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", fmt.Sprintf("-DN=%d", n), "-o", exe, perftest.Source(t, "sized.c")}
	if out, err := exec.Command(oracle.Need(t, "riscv64-linux-gnu-gcc"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// TestPointsOfBinaries goes the whole way with an executable for each size.
func TestPointsOfBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	args := []string{"profile", "-q", "--machine", "origin2000", "-o", filepath.Join(dir, "profiles"), "--format", "csv"}
	for _, n := range []int{8, 12, 18, 24} {
		args = append(args, "--point", fmt.Sprintf("n=%d:%s", n, sizedBinary(t, dir, n)))
	}
	table, errs, err := presage(t, args...)
	if err != nil || strings.Count(table, "\nsized,") != 4 {
		t.Fatalf("%v: %s%s", err, table, errs)
	}
	if !strings.Contains(errs, "warning: sized.24: ") || !strings.Contains(errs, "only by loop or routine") {
		t.Errorf("no warning of what could not be paired: %s", errs)
	}
	pred, errs, err := presage(t, "predict", filepath.Join(dir, "profiles"), "--machine", "origin2000", "--at", "n=36", "--format", "csv", "--warnings")
	if err != nil || strings.Count(pred, "\nsized,36,origin2000,") != 3 || !strings.Contains(errs, "only by loop or routine") {
		t.Errorf("%v: %s%s", err, pred, errs)
	}
	sim := must(t, "simulate", "--point", "n=36:"+sizedBinary(t, dir, 36), "--machine", "origin2000", "--format", "csv", "-q")
	if strings.Count(sim, "\nsized,36,origin2000,") != 3 {
		t.Errorf("got %s", sim)
	}
	for by, rows := range map[string]int{"program": 1, "routine": 7} {
		timed := must(t, "time", filepath.Join(dir, "profiles"), "--machine", "origin2000", "--at", "n=36", "--by", by, "--min-share", "0", "--format", "csv")
		if got := strings.Count(timed, "\nsized,36,origin2000,"); got < rows || strings.Contains(timed, ",NaN,NaN,") {
			t.Errorf("by %s: %d rows, want %d\n%s", by, got, rows, timed)
		}
	}
	simTime := must(t, "simulate", "--time", "--point", "n=36:"+sizedBinary(t, dir, 36), "--machine", "origin2000", "--format", "csv", "-q")
	if strings.Count(simTime, "\nsized,36,origin2000,sized,") != 1 {
		t.Errorf("got %s", simTime)
	}
	if hot := must(t, "histogram", filepath.Join(dir, "profiles"), "--routine", "smooth", "--format", "csv"); strings.Count(hot, "\nsized,8,") == 0 {
		t.Errorf("got %s", hot)
	}
}

// TestValidationOfBinaries judges an executable that was compiled for its size by
// models of others.
func TestValidationOfBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	args := []string{"validate", "-q", "--machine", "origin2000", "--train", "n=8,12,16,20", "--format", "csv"}
	for _, n := range []int{8, 12, 16, 20, 32} {
		args = append(args, "--point", fmt.Sprintf("n=%d:%s", n, sizedBinary(t, dir, n)))
	}
	table := must(t, append(args, "--at", "n=32")...)
	if !strings.Contains(table, "\nsized,32,") || strings.Count(table, ",program,sized,") == 0 || strings.Count(table, ",routine,") == 0 {
		t.Errorf("got %s", table)
	}
	if _, _, err := presage(t, append(args, "--at", "n=40")...); err == nil || !strings.Contains(err.Error(), "no executable for n=40") {
		t.Errorf("a size without an executable: %v", err)
	}
}

func TestSampledProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	exe := sizedBinary(t, dir, 40)
	_, errs, err := presage(t, "profile", "--point", "n=40:"+exe, "--sample", "8", "--sample-seed", "3", "--block", "32", "-q", "-o", filepath.Join(dir, "p"))
	if err != nil || !strings.Contains(errs, "estimates from one block in 8 (seed 3)") {
		t.Errorf("%v: %s", err, errs)
	}
	got := must(t, "histogram", filepath.Join(dir, "p"), "--misses", "16,1024", "--confidence", "0.99", "--format", "csv")
	if !strings.HasPrefix(got, "program,n,block_bytes,capacity_blocks,sample_one_in,accesses,misses,misses_least,misses_most") || strings.Count(got, "\n") != 3 {
		t.Errorf("got %s", got)
	}
}

func TestPointErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"profile -o " + dir, "no program"},
		{"profile " + program + " --point n=5:x -o " + dir, "give no other"},
		{"profile --sweep n=6 --point n=5:x -o " + dir, "no --sweep"},
		{"profile --point n=5 -o " + dir, "want name=value:PROGRAM"},
		{"profile --point n:x -o " + dir, "want name=value before the colon"},
		{"profile --point n=five:x -o " + dir, `"five" is not a number`},
		{"profile --point n=5,n=6:x -o " + dir, "given twice"},
		{"profile --point n=5:nowhere -o " + dir, "no such file"},
		{"profile " + program + " --sweep n=6 --args {n} --sample 3 -q -o " + dir, "power of two"},
		{"simulate --machine origin2000", "no program"},
		{"validate --machine origin2000 --train n=5,6,7 --at n=8", "no program"},
		{"validate " + program + " --machine origin2000 --train n=5,6,7 --at n=8 --point n=5:x", "give no other"},
		{"simulate " + program + " --machine origin2000 --point n=5:x", "give no other"},
	} {
		if _, _, err := presage(t, strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("presage %s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestPointsFlag(t *testing.T) {
	var p pointsFlag
	for _, text := range []string{"n=20,k=0.5:a:b", "n=26,k=1:/c"} {
		if err := p.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]perf.Point{{"n": 20, "k": 0.5}, {"n": 26, "k": 1}}, p.points); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a:b", "/c"}, p.paths); diff != "" {
		t.Error(diff)
	}
}

func TestPointsWithOthers(t *testing.T) {
	var p pointsFlag
	for _, text := range []string{"n=40:a", "n=20:b"} {
		if err := p.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, q := range p.with([]perf.Point{{"n": 20}, {"n": 30}}) {
		got = append(got, q.String())
	}
	if want := "n=20 n=30 n=40"; strings.Join(got, " ") != want {
		t.Errorf("points %q, want %s", got, want)
	}
}
