package perf_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presage/perf"
	"presage/perf/internal/perftest"
	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// stores counts the accesses that write memory: a collector of a notebook.
type stores struct {
	refs  []trace.Ref
	total int
}

func (s *stores) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		if s.refs[a.Ref()].Kind.Writes() {
			s.total++
		}
	}
}

// A collector of one's own, and one of package reuse, are fed by one run.
func ExampleRun() {
	prog := perf.Must(perf.Build(context.Background(), "../datasets/programs/matmul"))
	plan := perf.Must(prog.Plan())
	written := &stores{refs: plan.Refs}
	distances := perf.Must(reuse.New(plan, reuse.Options{BlockBytes: 64}))

	res := perf.Must(perf.Run(context.Background(), prog, perf.Point{"n": 24}, perf.RecordOptions{
		RunOptions: perf.RunOptions{Args: "-n {n} -quiet"},
	}, written, distances))

	fmt.Println("both saw every access:", distances.Result().Accesses >= res.Accesses)
	fmt.Println("some of them were stores:", written.total > 0 && uint64(written.total) < res.Accesses)
	// Output:
	// both saw every access: true
	// some of them were stores: true
}

// seen notes what a collector is shown.
type seen struct {
	accesses uint64
	starts   []uint64
}

func (s *seen) Observe(b *trace.Batch) {
	s.starts = append(s.starts, b.Start)
	s.accesses += uint64(len(b.Accesses))
}

// TestRunFeedsAllCollectors: one run, any number of collectors, all shown the same.
func TestRunFeedsAllCollectors(t *testing.T) {
	prog, point := perftest.Program(t), perf.Point{"n": 6}
	options := perf.RunOptions{Args: perftest.OneIteration}
	var first, second seen
	var reports []progress.Report
	options.Progress = func(r progress.Report) { reports = append(reports, r) }
	res, err := perf.Run(t.Context(), prog, point, perf.RecordOptions{RunOptions: options}, &first, &second)
	if err != nil {
		t.Fatal(err)
	}
	if first.accesses != res.Accesses || second.accesses != res.Accesses || res.Accesses == 0 || !slices.Equal(first.starts, second.starts) {
		t.Errorf("%d and %d accesses seen of %d", first.accesses, second.accesses, res.Accesses)
	}
	if !strings.Contains(res.Stdout, "verification: successful") || len(reports) == 0 || !reports[len(reports)-1].Finished() {
		t.Errorf("printed %q, reported %v", res.Stdout, reports)
	}

	// A plan of fewer references, and a part of the run.
	data, err := prog.DataPlan()
	if err != nil {
		t.Fatal(err)
	}
	var some, part seen
	whole, err := perf.Run(t.Context(), prog, point, perf.RecordOptions{RunOptions: options, Plan: data}, &some)
	if err != nil || whole.Accesses >= res.Accesses || some.accesses != whole.Accesses || whole.Instructions != res.Instructions {
		t.Errorf("%d accesses without the stack of %d (%v)", some.accesses, res.Accesses, err)
	}
	window := trace.Window{From: res.Instructions / 4, To: res.Instructions / 2}
	quarter, err := perf.Run(t.Context(), prog, point, perf.RecordOptions{RunOptions: options, Windows: []trace.Window{window}}, &part)
	if err != nil || part.accesses != quarter.Accesses || part.accesses == 0 || part.accesses > res.Accesses/2 {
		t.Errorf("%d accesses in a quarter of a run of %d (%v)", part.accesses, res.Accesses, err)
	}
	for _, start := range part.starts {
		if start < window.From || start > window.To+1000 {
			t.Errorf("a batch from instruction %d, outside of %v", start, window)
		}
	}

	// A program that fails is an error, as are arguments that do not fit the point.
	for args, want := range map[string]string{"-n {n} -iterations 0": "exit status 2", "-n {m}": "no parameter {m}"} {
		_, err := perf.Run(t.Context(), prog, point, perf.RecordOptions{RunOptions: perf.RunOptions{Args: args}}, &seen{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := perf.Run(ctx, prog, point, perf.RecordOptions{RunOptions: options}); err == nil {
		t.Error("a cancelled run: no error")
	}
}
