package cfg

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// strip returns a copy of an executable without its symbols.
func strip(t *testing.T, path string, flags ...string) string {
	t.Helper()
	oracle.Need(t, "riscv64-linux-gnu-objdump") // of the same package
	out := filepath.Join(t.TempDir(), "stripped")
	if text, err := exec.Command("riscv64-linux-gnu-strip", append(flags, "-o", out, path)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// TestDiscovery scores the routines found in stripped programs against the
// symbols that were stripped, and demands that all executed code was found.
func TestDiscovery(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const (
		recall    = 0.90 // of the routines that exist and are not empty
		precision = 0.90 // of the routines that are found
	)
	list := append(slices.Clone(programs[:4]), program{"c++", "riscv64-linux-gnu-g++", "p.cc", classes, []string{"-O2"}})
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			path := p.path(t)
			truth := open(t, path)
			f := open(t, strip(t, path))
			prog := Analyze(f)
			var want, got []uint64
			for _, r := range truth.Routines {
				want = append(want, r.Addr)
			}
			for _, r := range prog.Routines {
				checkRoutine(t, r)
				got = append(got, r.Addr)
			}
			both := 0
			for _, pc := range got {
				if _, ok := slices.BinarySearch(want, pc); ok {
					both++
				}
			}
			t.Logf("%d of %d routines found, %d others: recall %.3f, precision %.3f; %v",
				both, len(want), len(got)-both, float64(both)/float64(len(want)), float64(both)/float64(len(got)), prog.Warnings)
			if float64(both) < recall*float64(len(want)) || float64(both) < precision*float64(len(got)) {
				t.Error("too few, or too many")
			}
			executedIsKnown(t, f, prog)
		})
	}
}

// executedIsKnown runs a program and demands that at least 99.9% of the
// places that are executed are known.
func executedIsKnown(t *testing.T, f *objfile.File, prog *Program) {
	t.Helper()
	blocks := everywhere(f, prog)
	s := run(t, f, blocks)
	known := 0
	for id := range s.executed {
		if prog.knows(uint64(blocks[id].PC)) {
			known++
		} else {
			t.Logf("%#x is not known", uint64(blocks[id].PC))
		}
	}
	t.Logf("%d of %d executed blocks are known", known, len(s.executed))
	if float64(known) < 0.999*float64(len(s.executed)) || known < 500 {
		t.Error("too few")
	}
	if known < len(s.executed) { // the rest can be completed
		flow := new(trace.Flow)
		for id := range s.executed {
			flow.Arrivals = append(flow.Arrivals, trace.Arrival{PC: blocks[id].PC, Count: 1})
		}
		done := prog.Complete(flow)
		for id := range s.executed {
			if !done.knows(uint64(blocks[id].PC)) {
				t.Errorf("%#x is not known after completion", uint64(blocks[id].PC))
			}
		}
	}
}

// TestStrippedOtherwise analyzes partly stripped files like any other.
func TestStrippedOtherwise(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, flags := range [][]string{{"--strip-debug"}, {"--strip-unneeded"}, {"--discard-locals"}} {
		out := strip(t, programs[1].path(t), flags...)
		p := analyze(t, out)
		if len(p.Routines) < 500 {
			t.Errorf("%v: %d routines", flags, len(p.Routines))
		}
	}
	// Go programs keep their function table.
	p := analyze(t, strip(t, programs[4].path(t)))
	if named(t, p, "main.pick") == nil || len(p.Routines) < 1000 {
		t.Errorf("%d routines of a stripped Go program", len(p.Routines))
	}
}

const classes = `
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <algorithm>
struct Shape { virtual ~Shape() {} virtual double area() const = 0; virtual const char *name() const { return "shape"; } };
struct Square : Shape { double a; Square(double x) : a(x) {} double area() const override { return a * a; } const char *name() const override { return "square"; } };
struct Disc : Shape { double r; Disc(double x) : r(x) {} double area() const override { return 3 * r * r; } };
static int failing(int n) { if (n % 3 == 0) throw std::string("three"); return n; }
int main() {
	std::vector<std::unique_ptr<Shape>> v;
	for (int i = 0; i < 6; i++) { if (i % 2) v.push_back(std::make_unique<Square>(i)); else v.push_back(std::make_unique<Disc>(i)); }
	std::sort(v.begin(), v.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
	std::map<std::string, int> m;
	for (auto &s : v) m[s->name()] += (int)s->area();
	for (int i = 0; i < 7; i++) { try { m["f"] += failing(i); } catch (const std::string &s) { m[s]++; } }
	for (auto &e : m) std::printf("%s %d\n", e.first.c_str(), e.second);
}
`
