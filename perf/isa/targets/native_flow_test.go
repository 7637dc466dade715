//go:build linux && amd64

package targets_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestNativeSwitches resolves the tables of jumps of programs that are
// position-independent or not, and holds the graphs to a run.
func TestNativeSwitches(t *testing.T) {
	for _, flags := range []string{
		"-O0", "-O1", "-O2", "-O3 -march=x86-64-v3", "-Os", "-O0 -fno-pie -no-pie", "-O2 -fno-pie -no-pie", "-O2 -fcf-protection=full", "-O2 -static", "-O2 -fno-plt",
	} {
		t.Run(flags, func(t *testing.T) {
			exe := native(t, "testdata/switches.c", strings.Fields(flags)...)
			a := analysis(t, exe)
			for name, least := range map[string]int{"on_int": 8, "on_char": 5, "on_long": 7, "negative": 7, "masked": 7} {
				r := named(a.Program, name)
				if r == nil {
					t.Fatalf("no %s", name)
				}
				tables := 0
				for _, e := range r.Edges {
					if e.Kind == cfg.Table {
						tables++
					}
				}
				if len(r.Open) > 0 || tables < least && tables > 0 {
					t.Errorf("%s: %d targets of tables, want %d; open %v", name, tables, least, r.Open)
				}
			}
			if r := named(a.Program, "fatal"); r == nil || slices.ContainsFunc(r.Blocks, func(b cfg.Block) bool { return b.Exit == cfg.Returns }) {
				t.Error("fatal returns")
			}
			if r := named(a.Program, "threaded"); r == nil || len(r.Open) == 0 {
				t.Error("the jumps of threaded code, whose index nothing bounds, are resolved")
			}
			c := newCourse(t, a)
			c.unknown = "threaded"
			walk(t, exe, nil, func(s *step) bool { return c.visit(s) })
			if c.transfers < 500 {
				t.Errorf("%d transfers of control", c.transfers)
			}
		})
	}
}

func named(p *cfg.Program, name string) *cfg.Routine {
	for _, r := range p.Routines {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// TestNativeColdParts finds a loop from which gcc has moved a rarely executed part
// to another place, with and without symbols that say so.
func TestNativeColdParts(t *testing.T) {
	for _, strip := range []string{"-g", "-s"} {
		exe := native(t, "testdata/switches.c", "-O2", "-freorder-blocks-and-partition")
		whole := analysis(t, exe).Program
		at, cold := named(whole, "mostly"), named(whole, "mostly.cold")
		if at == nil || cold == nil {
			t.Fatal("gcc moved nothing")
		}
		p := analysis(t, native(t, "testdata/switches.c", "-O2", "-freorder-blocks-and-partition", strip)).Program
		r := p.RoutineAt(at.Addr)
		if r == nil || len(r.Loops) != 1 || r.Loops[0].Irreducible || len(r.Entries) < 2 {
			t.Errorf("%s: %+v", strip, r)
		}
	}
}

// TestNativeLoops finds loops with their lines, whatever the version of DWARF
// and wherever it lies.
func TestNativeLoops(t *testing.T) {
	for _, flags := range []string{"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf", "-gdwarf-5 -gz=zlib"} {
		t.Run(flags, func(t *testing.T) {
			exe := native(t, "../amd64/testdata/kernels.c", append(strings.Fields(flags), "-O1")...)
			p := analysis(t, exe).Program
			r := named(p, "matmul")
			if r == nil || len(r.Loops) != 3 {
				t.Fatalf("matmul: %+v", r)
			}
			var lines []int
			for _, l := range r.Loops {
				first := 1 << 30
				for _, b := range l.Blocks {
					if at, ok := p.File.LineAt(r.Blocks[b].Last().PC); ok {
						if filepath.Base(at.File) != "kernels.c" {
							t.Errorf("line %+v", at)
						}
						first = min(first, at.Line)
					}
				}
				lines = append(lines, first)
			}
			if want := "[18 19 21]"; fmt.Sprint(lines) != want {
				t.Errorf("loops begin at lines %v, want %s", lines, want)
			}
		})
	}
}

// TestNativeFormulas checks the formulas of a multiplication of matrices.
func TestNativeFormulas(t *testing.T) {
	exe := native(t, "../amd64/testdata/kernels.c", "-O1", "-fno-pie", "-no-pie")
	a := analysis(t, exe)
	var got []string
	for i := range a.All {
		ref := &a.All[i]
		if ref.Routine != "matmul" || ref.Stack != access.NotStack || len(ref.Strides) < 2 {
			continue
		}
		text := fmt.Sprintf("%v %d", ref.Kind, ref.Size)
		for _, s := range ref.Strides {
			text += " " + s.String()
		}
		got = append(got, text)
	}
	want := []string{"load 8 8 0 0x1000", "load 8 0x1000 8 0", "store 8 8 0x1000"} // a[i][k], b[k][j], c[i][j]
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNativeCounters recovers the counts of all blocks from counters on some of
// the edges, of a run whose every block is counted, once runs have shown where the
// jumps lead that analysis leaves open.
func TestNativeCounters(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	exe := native(t, "testdata/switches.c", "-O2")
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	p := cfg.Analyze(f)
	for range 8 {
		plan := cfg.PlaceCounters(p)
		counter := newFlowCounter(plan.Plan)
		executions := make(map[uint64]uint64)
		last := new(isa.Inst)
		decoder := f.Target.NewDecoder()
		first := true
		walk(t, exe, nil, func(s *step) bool {
			if first {
				counter.visit(nil, s.pc)
				first = false
			} else {
				counter.visit(last, s.pc)
			}
			executions[s.pc]++
			in, err := decoder.Decode(f.Bytes(s.pc, min(15, f.RoutineAt(s.pc).End()-s.pc)), s.pc)
			if err != nil {
				t.Error(err)
				return false
			}
			*last = in
			return true
		})
		flow := counter.flow()
		got, err := plan.Recover(flow)
		if errors.Is(err, cfg.ErrUnforeseen) {
			p = p.Complete(flow)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		compareCounts(t, p, got, executions)
		t.Logf("%d counters for %d routines", len(plan.Plan.Edges)+len(plan.Plan.Places), len(p.Routines))
		return
	}
	t.Error("after 8 runs there still is unforeseen code")
}

func compareCounts(t *testing.T, p *cfg.Program, got *cfg.Counts, executions map[uint64]uint64) {
	t.Helper()
	compared := 0
	for i, r := range p.Routines {
		if !slices.Contains(strings.Fields("main on_int on_char on_long negative masked threaded tail checked helper"), r.Name) {
			continue
		}
		for b := range r.Blocks {
			compared++
			if n := executions[r.Blocks[b].PC()]; n != got.Routines[i].Blocks[b] {
				t.Errorf("%s: block at %#x executed %d times, recovered %d", r.Name, r.Blocks[b].PC(), n, got.Routines[i].Blocks[b])
			}
		}
	}
	if compared < 60 {
		t.Errorf("%d blocks compared", compared)
	}
}

// TestSystemPrograms analyses programs of the system that have neither symbols
// nor debugging information.
func TestSystemPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, path := range []string{"/bin/ls", "/usr/bin/xz", "/usr/bin/perl", "/usr/bin/git"} {
		t.Run(path, func(t *testing.T) {
			f, err := objfile.Open(path)
			if err != nil {
				t.Skip(err)
			}
			p := cfg.Analyze(f)
			insts, open, loops := 0, 0, 0
			for _, r := range p.Routines {
				open += len(r.Open)
				loops += len(r.Loops)
				for b := range r.Blocks {
					insts += len(r.Blocks[b].Insts)
				}
			}
			var code uint64
			for _, s := range f.Sections {
				if s.Execute {
					code += s.Size
				}
			}
			t.Logf("%d routines, %d instructions in %d bytes, %d loops, %d open jumps, warnings %v", len(p.Routines), insts, code, loops, open, p.Warnings)
			if uint64(insts)*6 < code || len(p.Routines) < 50 || len(f.Imports) < 10 || open*500 > insts {
				t.Errorf("%d routines, %d imports", len(p.Routines), len(f.Imports))
			}
		})
	}
}

// flowCounter counts what an engine would count for a plan, from the entry of
// main to its return.
type flowCounter struct {
	plan     *trace.FlowPlan
	out      *trace.Flow
	arrivals map[trace.PC]uint64
	jumps    map[trace.Edge]uint64
}

func newFlowCounter(p *trace.FlowPlan) *flowCounter {
	return &flowCounter{
		plan: p, arrivals: make(map[trace.PC]uint64), jumps: make(map[trace.Edge]uint64),
		out: &trace.Flow{Edges: make([]uint64, len(p.Edges)), Places: make([]uint64, len(p.Places))},
	}
}

// visit counts the transfer from the instruction that was executed last, nil for
// none, to pc.
func (f *flowCounter) visit(last *isa.Inst, at uint64) {
	pc := trace.PC(at)
	if i, ok := slices.BinarySearch(f.plan.Places, pc); ok {
		f.out.Places[i]++
	}
	if last == nil {
		f.out.Breaks = append(f.out.Breaks, trace.Break{PC: pc, Entered: 1})
		return
	}
	edge := trace.Edge{From: trace.PC(last.PC), To: pc}
	direct := last.HasTarget || last.Class.FallsThrough() && last.Class != isa.Call
	if last.Class == isa.Call && last.HasTarget && last.Target != at { // through a stub, and back
		f.edge(trace.Edge{From: edge.From, To: trace.PC(last.Target)})
		direct = false
	}
	if direct {
		f.edge(edge)
		return
	}
	if _, ok := slices.BinarySearch(f.plan.Jumps, edge.From); ok {
		f.jumps[edge]++
	} else if _, quiet := slices.BinarySearch(f.plan.Quiet, pc); !quiet {
		f.arrivals[pc]++
	}
}

func (f *flowCounter) edge(e trace.Edge) {
	if i, ok := slices.BinarySearchFunc(f.plan.Edges, e, trace.Edge.Compare); ok {
		f.out.Edges[i]++
	}
}

func (f *flowCounter) flow() *trace.Flow {
	for pc, n := range f.arrivals {
		f.out.Arrivals = append(f.out.Arrivals, trace.Arrival{PC: pc, Count: n})
	}
	slices.SortFunc(f.out.Arrivals, func(a, b trace.Arrival) int { return cmp.Compare(a.PC, b.PC) })
	for e, n := range f.jumps {
		f.out.Jumps = append(f.out.Jumps, trace.JumpCount{Edge: e, Count: n})
	}
	slices.SortFunc(f.out.Jumps, func(a, b trace.JumpCount) int { return a.Edge.Compare(b.Edge) })
	return f.out
}
