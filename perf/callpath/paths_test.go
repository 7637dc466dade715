package callpath_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/callpath"
	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// small is a machine whose caches a program of a few thousand doubles outgrows.
func small() *machine.Machine {
	return &machine.Machine{
		Name: "small",
		Caches: []machine.Cache{
			{Level: cache.Level{Name: "L1", Blocks: 64, BlockBytes: 64, Ways: 8}},
			{Level: cache.Level{Name: "L2", Blocks: 512, BlockBytes: 64, Ways: 8}},
		},
		TLBs: []machine.TLB{{TLB: cache.TLB{Name: "TLB", Entries: 16, EntryBytes: 4096, Ways: 16}}},
	}
}

// build compiles a program of testdata for a target: rv64, static or dynamic.
func build(t *testing.T, target, name string, flags ...string) *subject.Program {
	t.Helper()
	compiler, args := "gcc", []string{"-g", "-O2", "-pthread"}
	if target == "rv64" {
		compiler = "riscv64-linux-gnu-gcc"
	}
	if target != "dynamic" {
		args = append(args, "-static")
	}
	return perftest.Link(t, oracle.Need(t, compiler), slices.Concat(args, flags, []string{filepath.Join("testdata", name+".c")}), name)
}

// skipped skips a test where native programs cannot be run.
func skipped(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPaths: calls, indirect ones, tail calls, longjmp, signals, threads, recursion of one
// routine and of two, and calls back from a library each lead to the routines that they
// should, on both engines, with the library as a part of the program and apart from it.
func TestPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, target := range []string{"rv64", "static", "dynamic"} {
		t.Run(target, func(t *testing.T) {
			prog := build(t, target, "paths")
			run := subject.RunOptions{Store: store.Open(t.TempDir())}
			rows, err := callpath.Simulate(t.Context(), prog, small(), []subject.Point{{}}, callpath.SimulateOptions{RunOptions: run, By: subject.ByRoutine})
			skipped(t, err)
			var touches []string
			for _, r := range rows {
				if r.Warning != "" {
					t.Error(r.Warning)
				}
				if r.Level == "L1" && r.Scope == "touch" && r.Accesses >= 512 {
					touches = append(touches, r.Path.Path)
				}
			}
			for _, want := range []string{
				"main > one > touch", "main > two > touch", "main > tail > touch", "main > landing > touch",
				"main > (.* > )?handler > touch", "main > recurse > touch", "main > even > odd > touch",
			} {
				if !slices.ContainsFunc(touches, regexp.MustCompile("^paths > _start > (.* > )?"+want+"$").MatchString) {
					t.Errorf("no path to %s", want)
				}
			}
			thread := slices.IndexFunc(touches, regexp.MustCompile("^paths > (.* > )?worker > touch$").MatchString)
			if thread < 0 || len(touches) != 8 || strings.Contains(touches[thread], "main") {
				t.Errorf("the thread has no path of its own, or there are others: %q", touches)
			}
			if !slices.ContainsFunc(rows, func(r callpath.Simulated) bool {
				return r.Scope == "compare" && regexp.MustCompile(`> main > (libc.so.6!)?qsort( > .*)? > compare$`).MatchString(r.Path.Path)
			}) {
				t.Error("qsort calls no compare")
			}
			if slices.ContainsFunc(rows, func(r callpath.Simulated) bool { return strings.Contains(r.Path.Path, "@plt") }) {
				t.Error("paths have stubs")
			}
			if target != "static" { // that would be a further run, of nothing new
				conserved(t, prog, rows, run)
			}
		})
	}
}

// conserved checks that paths add up to what misses.Simulate counts, and what goes on
// from a path to what it has.
func conserved(t *testing.T, prog *subject.Program, rows []callpath.Simulated, run subject.RunOptions) {
	t.Helper()
	want, err := misses.Simulate(t.Context(), prog, small(), []subject.Point{{}}, misses.SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		own, on := 0.0, make(map[string]float64)
		var level []callpath.Simulated
		for _, r := range rows {
			if r.Level == w.Level {
				level = append(level, r)
				own += r.Misses
				if i := strings.LastIndex(r.Path.Path, callpath.Separator); i >= 0 {
					on[r.Path.Path[:i]] += r.AllMisses
				}
			}
		}
		if own != w.Misses || level[0].AllMisses != w.Misses || own == 0 || level[0].Depth != 0 {
			t.Errorf("%s: paths have %g misses, the run %g; simulated %g", w.Level, own, level[0].AllMisses, w.Misses)
		}
		for _, r := range level {
			if r.Misses+on[r.Path.Path] != r.AllMisses {
				t.Errorf("%s: %s has %g misses and %g beyond, in all %g", w.Level, r.Path.Path, r.Misses, on[r.Path.Path], r.AllMisses)
			}
		}
	}
}

// TestListing: rows called other have what is not listed.
func TestListing(t *testing.T) {
	prog := build(t, "rv64", "paths")
	run := subject.RunOptions{Store: store.Open(t.TempDir())}
	for _, list := range []subject.Listing{{MinShare: 0.05}, {Limit: 5}, {}} {
		for _, by := range []subject.Scope{subject.ByLoop, subject.ByRoutine, subject.ByProgram} {
			rows, err := callpath.Simulate(t.Context(), prog, small(), []subject.Point{{}}, callpath.SimulateOptions{RunOptions: run, By: by, Listing: list})
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, prog, rows, run)
			listed := 0
			for _, r := range rows {
				if r.Level == "L1" && r.Depth > 0 && r.Scope != subject.OtherScopes {
					listed++
					if r.Share < list.MinShare {
						t.Errorf("%s has a row with a share of %g", r.Path.Path, r.Share)
					}
				}
			}
			if list.Limit > 0 && listed > list.Limit || by == subject.ByProgram && listed > 0 || by != subject.ByProgram && listed == 0 {
				t.Errorf("%+v by %s: %d paths are listed", list, by, listed)
			}
		}
	}
	if _, err := callpath.Simulate(t.Context(), prog, small(), []subject.Point{{}}, callpath.SimulateOptions{RunOptions: run, By: "line"}); err == nil {
		t.Error("paths by line: no error")
	}
}
