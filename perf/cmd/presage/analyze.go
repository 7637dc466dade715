package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/anatomy"
	"presage/perf/figure/diagram"
	"presage/perf/store"
	"presage/perf/subject"
)

// analysis holds the flags of presage analyze.
type analysis struct {
	table   string
	routine string
	by      string
	stack   bool
	byPlace bool
	least   float64
	limit   int
	execute bool
	draw    string
	cold    bool
	run     runFlags
	out     output
}

// tables are the values of --table.
var tables = []string{"summary", "routines", "loops", "references", "groups", "mix", "edges"}

func analyzeCommand() *cobra.Command {
	a := new(analysis)
	cmd := &cobra.Command{
		Use:   "analyze PROGRAM",
		Short: "Take a program apart: routines, loops, memory references, instruction mix",
		Long: `analyze takes PROGRAM apart, an executable or shared library for linux/amd64, a
static executable for linux/riscv64, or the folder of a Go main package, without
running it: control-flow graphs, loops and their lines in the source, for each
memory reference the formula of the first location that it accesses and of its
stride in each loop, groups of references with similar patterns, and instructions
by class.

With --run it also runs the program once, with counters on as few edges as
suffice to determine how often each was taken, and the tables include execution
counts. For the table of references it runs the program once more, with every
block recorded: where a stride is irregular or indirect and so has no formula,
the step that the run took most often stands in its place, with its share of all
steps, and strides_from says that it was observed in that run and not derived.

--draw writes a picture: the control-flow graph of --routine, or the loop nest of
the program.`,
		Example: `  presage analyze ./sweep3d
  presage analyze /usr/bin/python3 --table mix
  presage analyze ./sweep3d --table references --routine main.sweep
  presage analyze ./sweep3d --run --args "-n 20" --table loops --limit 10
  presage analyze ./a.out --run --args 1000 --table references --routine lookup
  presage analyze ./sweep3d --run --args "-n 20" --routine main.solveLine --draw solve.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&a.table, "table", "summary", "what to print: "+strings.Join(tables, ", "))
	f.StringVar(&a.routine, "routine", "", "only this routine, named as in the table of routines")
	f.StringVar(&a.by, "by", "program", "scope of the instruction mix: program, routine or loop")
	f.BoolVar(&a.stack, "stack", false, "include references to the stack for saved and spilled registers and arguments")
	f.BoolVar(&a.byPlace, "by-place", false, "list edges by place instead of by how often they were taken")
	f.Float64Var(&a.least, "least", 0, "leave out edges taken less often than this share of all")
	f.IntVar(&a.limit, "limit", 0, "print at most this many rows; 0: all")
	f.BoolVar(&a.execute, "run", false, "run the program and count executions")
	f.StringVar(&a.draw, "draw", "", "write a picture to this file, .svg or .png")
	f.BoolVar(&a.cold, "cold", false, "also draw what was not executed")
	a.run.register(cmd)
	a.out.register(cmd)
	return cmd
}

func (a *analysis) do(cmd *cobra.Command, path string) error {
	if err := a.check(); err != nil {
		return err
	}
	if err := a.suits(cmd.Flags().Changed); err != nil {
		return err
	}
	prog, err := openProgram(cmd.Context(), path)
	if err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), prog.Structure().Warnings())
	if w := prog.AnalysisWarning(); w != "" {
		warn(cmd.ErrOrStderr(), []string{w})
	}
	ran, err := a.observe(cmd, prog)
	if err != nil {
		return err
	}
	df, err := a.frame(prog, ran)
	if err != nil {
		return err
	}
	if a.limit > 0 {
		df = head(df, a.limit)
	}
	if a.draw != "" {
		if err := a.picture(cmd.Context(), prog, ran.counts, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return a.out.print(cmd.OutOrStdout(), df)
}

// shown is what runs of the program showed; nothing without --run.
type shown struct {
	counts  *perf.Counts
	strides *anatomy.ObservedStrides // for the table of references alone
}

func (a *analysis) observe(cmd *cobra.Command, prog *perf.Program) (shown, error) {
	var ran shown
	if !a.execute {
		return ran, nil
	}
	opt, err := a.run.options()
	if err != nil {
		return ran, err
	}
	if ran.counts, err = perf.Count(cmd.Context(), prog, nil, opt); err != nil {
		return ran, err
	}
	warn(cmd.ErrOrStderr(), ran.counts.Warnings)
	if a.table != "references" {
		return ran, nil
	}
	if ran.strides, err = anatomy.ObserveStrides(cmd.Context(), ran.counts, opt); err != nil {
		return ran, err
	}
	for _, w := range ran.strides.Warnings {
		if !slices.Contains(ran.counts.Warnings, w) {
			warn(cmd.ErrOrStderr(), []string{w})
		}
	}
	return ran, nil
}

func (a *analysis) check() error {
	if err := a.out.check(); err != nil {
		return err
	}
	if ext := filepath.Ext(a.draw); a.draw != "" && ext != ".svg" && ext != ".png" {
		return fmt.Errorf("--draw %s: want a file name that ends in .svg or .png", a.draw)
	}
	if !slices.Contains(tables, a.table) {
		return fmt.Errorf("--table %q: want %s", a.table, strings.Join(tables, ", "))
	}
	if a.table == "edges" && !a.execute {
		return errors.New("--table edges: edges are counted in a run; give --run and the program's --args")
	}
	if a.limit < 0 {
		return fmt.Errorf("--limit %d: want 0 for all rows, or how many", a.limit)
	}
	return nil
}

// suits returns an error for flags that would have no effect, as the user probably
// expects one.
func (a *analysis) suits(given func(flag string) bool) error {
	in := func(list ...string) bool { return slices.Contains(list, a.table) }
	for _, f := range []struct {
		needs string
		met   bool
		flags []string
	}{
		{"--run", a.execute, []string{"args", "env", "dir", "stdin", "max-instructions", "memory", "stack-bytes", "threads", "engine", "cpu"}},
		{"--table loops, references or edges, or --draw", in("loops", "references", "edges") || a.draw != "", []string{"routine"}},
		{"--table references", in("references"), []string{"stack"}},
		{"--table mix", in("mix"), []string{"by"}},
		{"--table edges", in("edges"), []string{"least", "by-place"}},
		{"--draw and --run", a.draw != "" && a.execute, []string{"cold"}},
	} {
		for _, name := range f.flags {
			if given(name) && !f.met {
				return fmt.Errorf("--%s does nothing without %s", name, f.needs)
			}
		}
	}
	return nil
}

func (a *analysis) frame(prog *perf.Program, ran shown) (dataframe.DataFrame, error) {
	counts := ran.counts
	switch a.table {
	case "routines":
		return perf.Frame(anatomy.Routines(prog)), nil
	case "loops":
		return perf.Loops(prog, perf.LoopOptions{Routine: a.routine, Counts: counts})
	case "references":
		return perf.References(prog, perf.ReferenceOptions{Routine: a.routine, Stack: a.stack, Counts: counts, Observed: ran.strides})
	case "groups":
		return perf.Frame(anatomy.GroupSizes(prog)), nil
	case "mix":
		return perf.InstructionMix(prog, perf.MixOptions{By: subject.Scope(a.by), Counts: counts})
	case "edges":
		edges, err := anatomy.Edges(counts, anatomy.EdgeOptions{Routine: a.routine, ByFrequency: !a.byPlace, Least: a.least})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		return perf.Frame(edges), nil
	}
	return perf.Frame(anatomy.Summary(prog, counts)), nil
}

func (a *analysis) picture(ctx context.Context, prog *perf.Program, counts *perf.Counts, stderr io.Writer) error {
	opt := perf.DrawOptions{Counts: counts, Cold: a.cold}
	graph, err := anatomy.LoopNest(prog, "", opt)
	if a.routine != "" {
		graph, err = perf.ControlFlow(prog, a.routine, opt)
	}
	if err != nil {
		return err
	}
	d, err := diagram.New(ctx, graph)
	if err != nil {
		return err
	}
	data, err := d.SVG()
	if filepath.Ext(a.draw) == ".png" {
		data, err = d.PNG()
	}
	if err != nil {
		return err
	}
	if err := store.WriteFile(a.draw, data); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "presage: drew", graph.Title, "to", a.draw)
	return nil
}
