//go:build linux && amd64

package locality_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

const dynamicProgram = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	long n = atol(argv[1]);
	char *a = malloc(n), *b = malloc(n);
	memset(a, 1, n);
	memcpy(b, a, n);
	printf("%d\n", b[n / 2]);
	return 0;
}
`

// TestSaveDynamic checks that profiles of a dynamically linked program are saved
// with its libraries, and that the loaded ones can be counted.
func TestSaveDynamic(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	gcc := oracle.Need(t, "gcc")
	dir := t.TempDir()
	exe := filepath.Join(dir, "dynamic")
	cmd := exec.Command(gcc, "-O1", "-g", "-fno-builtin", "-x", "c", "-", "-o", exe)
	cmd.Stdin = strings.NewReader(dynamicProgram)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prog, err := subject.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(filepath.Join(dir, "store"))
	prog.KeepAnalysis(st)
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 1000, 5000, 20000), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "{n}", Store: st}, BlockBytes: []uint64{64},
	})
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(runs.Warnings) > 0 || runs.Matched() {
		t.Errorf("warnings %q; several programs: %t", runs.Warnings, runs.Matched())
	}
	folder := filepath.Join(dir, "profiles")
	if err := runs.Save(folder); err != nil {
		t.Fatal(err)
	}
	loaded, err := locality.LoadRuns(folder)
	if err != nil {
		t.Fatal(err)
	}
	before, after := runs.Rows(), loaded.Rows()
	for i := range before {
		if before[i].Accesses != after[i].Accesses || before[i].Footprint != after[i].Footprint {
			t.Errorf("%+v was saved, %+v loaded", before[i], after[i])
		}
	}
	counts, err := loaded.Runs[0].Count(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	if counts.Instructions != loaded.Runs[0].Instructions || counts.Program.File.SHA256 != prog0(runs).File.SHA256 {
		t.Errorf("%d instructions of %s counted, %d of %s profiled", counts.Instructions, counts.Program.File.SHA256, loaded.Runs[0].Instructions, prog0(runs).File.SHA256)
	}
	if n := copied(counts.Program); n == "" {
		t.Error("no routine of the C library")
	}
}

func prog0(r *locality.Runs) *subject.Program { return r.Runs[0].Program }

// copied returns the name of a routine of the C library.
func copied(p *subject.Program) string {
	for _, r := range p.File.Routines {
		if strings.HasPrefix(r.Name, "libc.so.6!") {
			return r.Name
		}
	}
	return ""
}
