//go:build amd64

package main

import (
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

const nativeProgram = `#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	long n = atol(argv[1]), sum = 0;
	long *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
	for (long i = 0; i < n * n; i++)
		a[i] = i;
	for (long t = 0; t < 3; t++)
		for (long i = 1; i + 1 < n; i++)
			for (long j = 1; j + 1 < n; j++)
				b[i * n + j] = a[(i - 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j];
	for (long i = 1; i + 1 < n; i++)
		sum += b[i * n + i];
	printf("%ld\n", sum);
	return 0;
}
`

// native builds a program of this machine with shared libraries.
func native(t *testing.T) string {
	t.Helper()
	if _, stderr, err := presage(t, "run", "/usr/bin/true"); err != nil && strings.Contains(err.Error()+stderr, "ptrace") {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, path := filepath.Join(dir, "relax.c"), filepath.Join(dir, "relax")
	if err := os.WriteFile(source, []byte(nativeProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(oracle.Need(t, "gcc"), "-g", "-O2", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// records returns the records of a table by column.
func records(t *testing.T, table string) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%v\n%s", err, table)
	}
	for _, r := range all[1:] {
		row := make(map[string]string)
		for i, name := range all[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNativeToTheEnd validates and explains a program of this machine with shared
// libraries: its runs are done by a pool, as by default, what validate simulates is what
// simulate does, and memory has the names of the lines that asked for it.
func TestNativeToTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other commands run the packages below at once, too")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	path := native(t)
	const most = 0.02 // of the misses in caches, at 1.6 times the largest size of training
	rows := records(t, must(t, "validate", path, "--args", "{n}", "--train", "n=60:140:20", "--at", "n=220", "--machine", "zen4", "--format", "csv", "-q"))
	simulated := make(map[string]string)
	for _, r := range records(t, must(t, "simulate", path, "--args", "{n}", "--sweep", "n=220", "--machine", "zen4", "--by", "program", "--format", "csv", "-q")) {
		simulated[r["level"]] = r["sim_misses"]
	}
	seen := 0
	for _, r := range rows {
		if r["of"] != "program" {
			continue
		}
		seen++
		pred, sim, rel := number(t, r["pred_misses"]), number(t, r["sim_misses"]), number(t, r["rel_err"])
		if sim != number(t, simulated[r["level"]]) || math.Abs(rel-(pred-sim)/sim) > 1e-9 || sim == 0 {
			t.Errorf("%v, simulated %v", r, simulated[r["level"]])
		}
		if strings.HasPrefix(r["level"], "L1") && !strings.Contains(r["level"], "TLB") && math.Abs(rel) > most {
			t.Errorf("%s: %v misses are predicted, %v simulated", r["level"], pred, sim)
		}
	}
	if seen != 5 {
		t.Errorf("%d levels in %v", seen, rows)
	}
	sites := make(map[string]string)
	for _, r := range records(t, must(t, "explain", path, "--args", "220", "--machine", "zen4", "--objects", "--format", "csv", "-q")) {
		if r["level"] == "L1" {
			sites[r["object"]] = r["allocated_bytes"]
		}
	}
	for _, want := range []string{"alloc relax.c:5"} { // both are
		if sites[want] == "" || number(t, sites[want]) != 2*8*220*220 {
			t.Errorf("%s has %q bytes of %v", want, sites[want], sites)
		}
	}
}

// TestFreeThreads simulates a program whose threads run at the same time: each result
// says so, and what it counts is what it is when they take turns.
func TestFreeThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; package native has tests of free threads")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	gcc := oracle.Need(t, "gcc")
	path := filepath.Join(t.TempDir(), "freely")
	source := filepath.Join("..", "..", "engine", "native", "testdata", "freely.c")
	if text, err := exec.Command(gcc, "-O2", "-g", "-pthread", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	simulated := func(threads string) (row map[string]string) {
		for _, r := range records(t, must(t, "simulate", path, "--args", "sums 2 {n}", "--sweep", "n=3000", "--machine", "zen4", "--by", "routine", "--threads", threads, "--format", "csv", "-q")) {
			if r["level"] == "L1" && r["scope"] == "sums" {
				row = r
			}
		}
		return row
	}
	turns, free := simulated("turns"), simulated("free")
	if turns["sim_accesses"] == "" || free["sim_accesses"] != turns["sim_accesses"] {
		t.Errorf("%v, in turns %v", free, turns)
	}
	if !strings.Contains(free["sim_warning"], "its 3 threads ran at the same time") || turns["sim_warning"] != "" {
		t.Errorf("warning %q, in turns %q", free["sim_warning"], turns["sim_warning"])
	}
	if _, stderr, status := runStatus(t.Context(), nil, "run", "--threads", "both", path); status == 0 || !strings.Contains(stderr, "want turns or free") {
		t.Errorf("--threads both: status %d, %s", status, stderr)
	}
}

// TestProcessesAreNotRecorded demands that results say so of a program that starts
// processes: profiles, what is predicted from them, simulations and --stats.
func TestProcessesAreNotRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; package native has tests of processes")
	}
	t.Setenv("PRESAGE_STORE", t.TempDir())
	dir := t.TempDir()
	path, profiles := filepath.Join(dir, "processes"), filepath.Join(dir, "profiles")
	source := filepath.Join("..", "..", "engine", "native", "testdata", "processes.c")
	if text, err := exec.Command(oracle.Need(t, "gcc"), "-O2", "-g", "-pthread", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	warnings := func(column string, args ...string) (all []string) {
		for _, r := range records(t, must(t, append(args, "--machine", "zen4", "--by", "program", "--format", "csv", "-q")...)) {
			all = append(all, r[column])
		}
		return all
	}
	for _, text := range warnings("sim_warning", "simulate", path, "--args", "{n} fs", "--sweep", "n=2000") {
		if !strings.Contains(text, "2 processes that the program started are not recorded") {
			t.Errorf("simulated with the warning %q", text)
		}
	}
	for _, text := range warnings("sim_warning", "simulate", path, "--args", "{n} t", "--sweep", "n=2000") {
		if text != "" {
			t.Errorf("simulated without processes, and with the warning %q", text)
		}
	}
	_, stderr, err := presage(t, "profile", path, "--args", "{n} fs", "--sweep", "n=600:1000:100", "--machine", "zen4", "-o", profiles)
	if err != nil || !strings.Contains(stderr, "processes 600 fs: 2 processes that the program started are not recorded") {
		t.Errorf("profiled: %v\n%s", err, stderr)
	}
	for _, text := range warnings("pred_warning", "predict", profiles, "--at", "n=2000", "--replay=false") {
		if !strings.Contains(text, "processes that the program started are not recorded, 2 in each run") {
			t.Errorf("predicted with the warning %q", text)
		}
	}
	for how, want := range map[string]string{"fs": " unrecorded_processes=2 ", "t": " unrecorded_processes=0 "} {
		if _, stderr, err := presage(t, "run", "--stats", path, "100", how); err != nil || !strings.Contains(stderr, want) {
			t.Errorf("run: %v, %s, want %s", err, stderr, want)
		}
	}
}

// TestLimitsOfNativePrograms demands that messages of limits name flags.
func TestLimitsOfNativePrograms(t *testing.T) {
	exe := native(t)
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--output-limit", "2", exe, "100"}, 125, "presage: native: relax wrote more than 2 bytes (--output-limit): output limit reached\n"},
		{[]string{"--max-instructions", "1000", exe, "100"}, 125, "instruction limit reached (--max-instructions)\n"},
		{[]string{"--stack", "67108864", exe, "100"}, 125, "(memory limits: --memory, --memory-limit, --stack)"},
		{[]string{"--snapshot", "s", "--snapshot-at", "5", exe, "100"}, 125, "(snapshots: --snapshot, --resume)"},
		{[]string{"--timeout", "1ns", exe, "100"}, 124, "presage: the program was stopped after 1ns (--timeout)\n"},
	} {
		_, stderr, status := runStatus(t.Context(), nil, append([]string{"run"}, test.args...)...)
		if status != test.status || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: status %d, %s", test.args[:2], status, stderr)
		}
	}
}
