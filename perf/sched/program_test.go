package sched

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// subject is a program of datasets/programs and what it did.
type subject struct {
	name     string
	args     []string
	analysis *access.Analysis
	counts   *cfg.Counts
	scopes   *cfg.ScopeTree
	executed uint64 // instructions
}

// build compiles a program for the embedded engine.
func build(t testing.TB, name string) *objfile.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = filepath.Join("..", "..", "datasets", "programs", name)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := objfile.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run counts what a program executes.
func run(t testing.TB, name string, args ...string) *subject {
	t.Helper()
	s := &subject{name: name, args: args}
	p := cfg.Analyze(build(t, name))
	for {
		c := cfg.PlaceCounters(p)
		res, err := rv64.Engine{}.Run(t.Context(), p.File, engine.Request{Args: args, Plan: &trace.Plan{Flow: c.Plan}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Recover(res.Flow); errors.Is(err, cfg.ErrUnforeseen) {
			p = p.Complete(res.Flow)
			continue
		}
		if s.counts, err = c.Recover(res.Flow); err != nil {
			t.Fatal(err)
		}
		s.executed = res.Instructions
		s.analysis, s.scopes = access.Analyze(p), cfg.NewScopeTree(p)
		return s
	}
}

// executedBy returns how many instructions of a routine were executed.
func (s *subject) executedBy(routine int) float64 {
	r, c := s.analysis.Program.Routines[routine], &s.counts.Routines[routine]
	var sum uint64
	var buf []uint64
	for b := range r.Blocks {
		buf = c.Insts(buf, r, b)
		for _, n := range buf {
			sum += n
		}
	}
	return float64(sum)
}

// TestPrograms checks the invariants on real programs: paths account for every
// execution of every block, and so of every instruction; the sums by loop, routine
// and program agree; no time is below what widths and units allow.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range []struct {
		name     string
		args     []string
		machines []string
	}{
		{"matmul", []string{"-n", "24"}, []string{"sifive-u74", "origin2000", "itanium2", "neoverse-n1"}},
		{"sweep3d", []string{"-n", "6"}, []string{"zen4"}},
		{"cg", []string{"-n", "10", "-iterations", "3"}, []string{"sifive-u74"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, c.name, c.args...)
			f := Counted(s.counts)
			paths, remain := 0, 0.0
			for i, r := range s.analysis.Program.Routines {
				list := Paths(r, i, &f.Routines[i], PathOptions{})
				checkPaths(t, r, &f.Routines[i], list, 0)
				sum := 0.0
				for k := range list {
					sum += list[k].Frequency * float64(list[k].Instructions(r))
					if list[k].End == Remains {
						remain += list[k].Frequency * float64(list[k].Instructions(r))
					}
				}
				if want := s.executedBy(i); sum != want {
					t.Errorf("%s: paths execute %v instructions, not %v", r.Name, sum, want)
				}
				paths += len(list)
			}
			t.Logf("%d instructions, %d paths, %.2g of instructions in remains", s.executed, paths, remain/float64(s.executed))
			for _, machine := range c.machines {
				for _, reschedule := range []bool{false, true} {
					s.schedule(t, machine, f, Options{Reschedule: reschedule})
				}
			}
		})
	}
}

// schedule schedules a program and checks the sums.
func (s *subject) schedule(t *testing.T, machine string, f *Frequencies, opt Options) {
	t.Helper()
	core := described(t, machine)
	sch, err := New(core, opt)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sch.Program(t.Context(), s.analysis, f)
	if err != nil {
		t.Fatal(err)
	}
	var instructions, loops float64
	for i := range res.Routines {
		instructions += s.executedBy(i)
		for l, c := range res.Routines[i].Loops {
			loops += c.Own
			inner := c.Own
			for m, d := range res.Routines[i].Loops {
				if s.analysis.Program.Routines[i].Loops[m].Parent == l {
					inner += d.Cycles
				}
			}
			if math.Abs(inner-c.Cycles) > 1e-9*inner {
				t.Errorf("loop %d of routine %d: %v cycles, with those inside %v", l, i, c.Cycles, inner)
			}
		}
	}
	if res.Instructions != instructions {
		t.Errorf("%v instructions, want %v", res.Instructions, instructions)
	}
	var total float64
	units := make([]float64, len(res.Units))
	for i := range res.Paths {
		p := &res.Paths[i]
		total += p.Total()
		whole(t, s.analysis.Program.Routines[p.Routine], p)
		for _, g := range p.Segments {
			bound := g.Bounds.Max()
			if opt.Reschedule && !g.Closed { // its units may still be occupied when it ends
				bound = g.Bounds.Issue
			}
			if g.Cycles < bound*(1-roundoff) {
				t.Fatalf("%v cycles, bounds %+v", g.Cycles, g.Bounds)
			}
			for k, n := range g.Units {
				units[k] += n * p.Frequency
			}
		}
	}
	if len(res.Warnings) > 0 {
		t.Errorf("warnings %v", res.Warnings)
	}
	if math.Abs(total-res.Cycles) > 1e-9*total {
		t.Errorf("%v cycles by path, %v in all", total, res.Cycles)
	}
	for k, n := range units {
		if math.Abs(n-res.Units[k]) > 1e-9*n {
			t.Errorf("%s: %v cycles by segment, %v in all", res.UnitNames[k], n, res.Units[k])
		}
	}
	s.byScope(t, res)
	t.Logf("%-12s rescheduled %-5v %.3g cycles, %.2f an instruction, %.2f in loops, %.3f unsettled", machine, opt.Reschedule, res.Cycles, res.Cycles/res.Instructions, loops/res.Cycles, res.unsettled()/res.Cycles)
}

// byScope demands that the tree of scopes adds up to the same.
func (s *subject) byScope(t *testing.T, res *Result) {
	t.Helper()
	list := res.byScope(s.scopes)
	own, most := 0.0, 0.0
	for i := range list {
		own += list[i].Own
		if p := list[i].Path; p >= 0 {
			most += res.Paths[p].Total()
		}
	}
	for _, sum := range []float64{own, list[0].Cycles} {
		if math.Abs(sum-res.Cycles) > 1e-9*sum {
			t.Errorf("%v cycles by scope, %v in all", sum, res.Cycles)
		}
	}
	if list[0].Instructions != res.Instructions || most > own*(1+roundoff) {
		t.Errorf("%v instructions by scope, %v in all; heaviest paths %v of %v cycles", list[0].Instructions, res.Instructions, most, own)
	}
}

// TestModelledFrequencies demands that a program executed 2^40 times as often takes
// 2^40 times as long, to the bit.
func TestModelledFrequencies(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const many = 1 << 40
	s := run(t, "matmul", "-n", "8", "-repeat", "1")
	f, more := Counted(s.counts), Counted(s.counts)
	for i := range more.Routines {
		r := &more.Routines[i]
		for b := range r.Blocks {
			r.Blocks[b] *= many
		}
		for e := range r.Edges {
			r.Edges[e] *= many
		}
		for k := range r.Steps {
			r.Steps[k].Delta *= many
		}
	}
	sch, err := New(described(t, "sifive-u74"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	once, err := sch.Program(t.Context(), s.analysis, f)
	if err != nil {
		t.Fatal(err)
	}
	often, err := sch.Program(t.Context(), s.analysis, more)
	if err != nil {
		t.Fatal(err)
	}
	if often.Cycles != many*once.Cycles || len(often.Paths) != len(once.Paths) || once.Cycles == 0 {
		t.Errorf("%v cycles in %d paths, 2^40 times %v in %d", often.Cycles, len(often.Paths), once.Cycles, len(once.Paths))
	}
	if _, err := sch.Program(t.Context(), s.analysis, &Frequencies{}); err == nil {
		t.Error("frequencies of no routines were accepted")
	}
}

// BenchmarkProgram schedules all of sweep3d, a Go program of 2.4 MB with its
// runtime library, with estimated frequencies, so that every routine counts.
func BenchmarkProgram(b *testing.B) {
	a := access.Analyze(cfg.Analyze(build(b, "sweep3d")))
	f := estimated(a.Program)
	static := 0
	for _, r := range a.Program.Routines {
		for k := range r.Blocks {
			static += len(r.Blocks[k].Insts)
		}
	}
	for _, machine := range []string{"sifive-u74", "zen4"} {
		for _, reschedule := range []bool{false, true} {
			b.Run(fmt.Sprintf("machine=%s/reschedule=%v", machine, reschedule), func(b *testing.B) {
				s, err := New(described(b, machine), Options{Reschedule: reschedule})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := s.Program(b.Context(), a, f); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(static), "ns/static-inst")
			})
		}
	}
}

// TestScopesOfRandomGraphs demands that every scheduled path belongs to a scope,
// even if loops follow one another without a block in between.
func TestScopesOfRandomGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	s, err := New(wide(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	between := 0
	for range 300 {
		p := randomProgram(t, rnd)
		f := Counted(randomCounts(rnd, p))
		for i, r := range p.Routines {
			for _, path := range Paths(r, i, &f.Routines[i], PathOptions{}) {
				if len(path.Blocks()) == 0 {
					between++
				}
			}
		}
		res, err := s.Program(t.Context(), access.Analyze(p), f)
		if err != nil {
			t.Fatal(err)
		}
		if all := res.byScope(cfg.NewScopeTree(p))[0]; math.Abs(all.Cycles-res.Cycles) > 1e-9*res.Cycles || all.Instructions != res.Instructions {
			t.Fatalf("%v cycles, %v instructions by scope; %v, %v in all", all.Cycles, all.Instructions, res.Cycles, res.Instructions)
		}
	}
	if between == 0 {
		t.Error("no loop follows another: the graphs are too simple")
	}
}

// TestPartialExecutions demands that exactly the executed part of a block that was
// left in its middle is scheduled.
func TestPartialExecutions(t *testing.T) {
	add := addi(10, 10, 1)
	a := access.Analyze(cfg.Analyze(image(t, []uint32{add, add, add, ret})))
	f := &Frequencies{Routines: []RoutineFrequencies{{Blocks: []float64{10}, Steps: []Step{{0, 2, -3}}}}}
	s, err := New(wide(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Program(t.Context(), a, f)
	if err != nil {
		t.Fatal(err)
	}
	if want := 10*4 - 3*2.0; res.Instructions != want {
		t.Errorf("%v instructions, want %v", res.Instructions, want)
	}
	if p := res.Paths[1]; len(p.Segments[0].Nodes) != 2 || res.Cycles != 10*res.Paths[0].Cycles-3*p.Cycles || p.Cycles == 0 {
		t.Errorf("%v cycles, of paths %+v", res.Cycles, res.Paths)
	}
}

// whole demands of a path that its segments hold all of its instructions and take its
// time, and that only one that closes an innermost loop without a call is followed by
// itself.
func whole(t *testing.T, r *cfg.Routine, p *PathCost) {
	t.Helper()
	n, cycles, cut := 0, 0.0, false
	for _, node := range p.Nodes {
		cut = cut || node.Loop >= 0 || r.Blocks[node.Block].Last().Class == isa.Call
	}
	for _, g := range p.Segments {
		n += len(g.Nodes)
		cycles += g.Cycles
		if g.Closed != (p.End == Closes && !cut) {
			t.Errorf("%s: %+v closed: %v", r.Name, p.Path, g.Closed)
		}
	}
	// Successive entries of a loop can overlap, as far as its throughput allows.
	overlapped := len(p.Segments) == 1 && p.Segments[0].Closed && r.Loops[p.Loop].Parent >= 0 &&
		p.Cycles < cycles && p.Cycles >= p.Segments[0].throughput()
	if cycles != p.Cycles && !overlapped {
		t.Errorf("%s: %+v takes %v cycles, its segments %v", r.Name, p.Path, p.Cycles, cycles)
	}
	if n != p.Instructions {
		t.Errorf("%s: %+v has %d instructions in segments, want %d", r.Name, p.Path, n, p.Instructions)
	}
}

// TestKnownChangesNothing demands that a scheduler that has seen the program with
// other frequencies returns the same times as a new one.
func TestKnownChangesNothing(t *testing.T) {
	s := run(t, "matmul", "-n", "24")
	first := Counted(s.counts)
	second := Counted(s.counts)
	for i := range second.Routines {
		f := &second.Routines[i]
		for b := range f.Blocks {
			f.Blocks[b] *= float64(1 + b%3)
		}
		for e := range f.Edges {
			f.Edges[e] *= float64(1 + e%5)
		}
	}
	m := described(t, "origin2000")
	used, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := used.Program(t.Context(), s.analysis, first); err != nil {
		t.Fatal(err)
	}
	got, err := used.Program(t.Context(), s.analysis, second)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Program(t.Context(), s.analysis, second)
	if err != nil {
		t.Fatal(err)
	}
	if got.Cycles != want.Cycles || got.Instructions != want.Instructions || len(got.Paths) != len(want.Paths) {
		t.Errorf("%v cycles of %d paths, a new scheduler has %v of %d", got.Cycles, len(got.Paths), want.Cycles, len(want.Paths))
	}
}

// estimated returns frequencies for one call of each routine from nothing but
// the graphs, by the heuristic of cfg.Routine.Weigh.
func estimated(p *cfg.Program) *Frequencies {
	f := &Frequencies{Routines: make([]RoutineFrequencies, len(p.Routines))}
	for i, r := range p.Routines {
		w := r.Weigh()
		f.Routines[i] = RoutineFrequencies{Blocks: w.Blocks, Edges: w.Edges}
	}
	return f
}
