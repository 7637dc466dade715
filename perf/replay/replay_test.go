package replay

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// compile builds a kernel of testdata.
func compile(t testing.TB, flags string) *subject.Program {
	t.Helper()
	if strings.Contains(flags, "FORTRAN") {
		args := append(strings.Fields("-g -static "+flags), "-J", t.TempDir(), "testdata/kernels.f90")
		return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gfortran"), args, "kernel")
	}
	args := append(strings.Fields("-g -static "+flags), "testdata/kernels.c")
	return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), args, "kernel")
}

func codeOf(t testing.TB, prog *subject.Program) *Code {
	t.Helper()
	plan, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	code, err := CodeOf(prog.Structure().Graph, plan)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func execute(t testing.TB, prog *subject.Program, code *Code, n int64, collectors ...trace.Collector) {
	t.Helper()
	_, err := subject.Run(context.Background(), prog, subject.Point{"n": float64(n)},
		subject.RecordOptions{Plan: code.Plan, RunOptions: subject.RunOptions{Args: "{n}"}}, collectors...)
	if err != nil {
		t.Fatal(err)
	}
}

// learn runs the program at sizes, until a run finds nothing more to look for.
func learn(t testing.TB, prog *subject.Program, code *Code, hints *Hints, n int64) *Run {
	t.Helper()
	for {
		c := NewCollector(code, *hints)
		execute(t, prog, code, n, c)
		run, err := c.Result()
		if err != nil {
			t.Fatal(err)
		}
		more := c.Hints()
		if more.Size() == hints.Size() {
			return run
		}
		*hints = more
	}
}

func TestScratch(t *testing.T) {
	flags := os.Getenv("KERNEL")
	if flags == "" {
		t.Skip()
	}
	prog := compile(t, flags)
	code := codeOf(t, prog)
	var hints Hints
	var runs []*Run
	sizes := []int64{20, 24, 28, 32, 36, 40, 48, 56}
	for _, n := range sizes {
		runs = append(runs, learn(t, prog, code, &hints, n))
	}
	p, err := Fit(code, sizes, runs)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("hints %d refs %d branches; places %d contexts %d bases %d series %d", len(hints.Refs), len(hints.Branches), len(p.Places), len(p.Contexts), len(p.Bases), len(p.Series))
	for _, n := range append(slices.Clone(sizes), 90, 96, 128) {
		run := learn(t, prog, code, &hints, n)
		v, err := p.Verify(context.Background(), code, n, run)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := p.At(code, n)
		report(t, p, code, v, run, in, n)
	}
}

func report(t *testing.T, p *Program, code *Code, v *Verdict, run *Run, in *Instance, n int64) {
	here, _ := p.locate(code, run)
	var total, good, inexact uint64
	bad := map[string]int{}
	for i := range p.Places {
		if here[i] == nil {
			continue
		}
		r := code.routine(p.Places[i].Block)
		for j, ok := range v.Refs[i] {
			total += here[i].Count
			if ok {
				good += here[i].Count
			} else {
				bad[fmt.Sprintf("%s ref irr=%v", r, p.Places[i].Refs[j].Irregular)]++
			}
		}
		if !in.places[i].exact {
			inexact++
		}
		if !v.Next[i] || !v.Counts[i] {
			bad[fmt.Sprintf("%s next %v count %v, regular %v", r, v.Next[i], v.Counts[i], p.Places[i].Branch != nil || len(p.Places[i].Next) < 2)]++
		}
	}
	t.Logf("n=%d: accesses %d equal %d (%.3f%%) places inexact %d err %v", n, total, good, 100*float64(good)/float64(total), inexact, v.Err)
	for k, n := range bad {
		if strings.Contains(k, "kernel") || strings.Contains(k, "main ") || strings.Contains(k, "sweep") {
			t.Log("   ", k, n)
		}
	}
}
