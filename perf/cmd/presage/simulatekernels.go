package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf/frame"
	"presage/perf/iperf/target"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/study/kernels"
)

func simulateKernelsCommand() *cobra.Command {
	var (
		sweep    sweepFlag
		opt      kernels.SimulationOptions
		out      output
		table    string
		machines []string
		record   string
		dir      string
		quiet    bool
	)
	cmd := &cobra.Command{
		Use:   "simulate-kernels PROGRAM --variants VARIANTS.csv --sweep name=values",
		Short: "Time a kernel on simulated machines with pages placed by several policies",
		Long: `simulate-kernels runs each variant of PROGRAM (a static linux/riscv64 executable, or
the folder of a Go main package) at all points, and times the routines of the variant
on each --machine: an in-order processor with its TLB, caches and pages. A variant is
a row of a table with the columns

  level       what it stands for, such as O3
  args        the program's arguments; {n} stands for the parameter n
  routines    whose code takes time: a name, or a pattern such as main.kernel*
  placements  of pages, separated by spaces: anywhere; fragmented, in the order of
              first touch in fragments of free memory; coloured, where a physically
              indexed cache sees the program's own addresses
  runs        at each size, each with pages in other places (coloured: one)

Each row of the result is a run. With --record the rows are written to a file, and
this command, the program and the date to recordings.csv beside it. Finished sizes
are kept in the store, so that an interrupted command can be resumed.`,
		Example: `  presage simulate-kernels datasets/programs/iperf --variants datasets/iperf/variants.csv --sweep n=8:800:8 \
    --use-cycles 2 --record datasets/iperf/simulated.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			variants, err := kernels.ReadVariants(table)
			if err != nil {
				return err
			}
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if dir != "" {
				opt.Store = store.Open(dir)
			}
			if !quiet {
				opt.Progress = func(p progress.Report) {
					if !p.Finished() {
						fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d of %d\n", p.Task, p.Done+1, p.Total)
					}
				}
			}
			times, err := opt.Run(cmd.Context(), prog, variants, machines, sweep.points)
			if err != nil {
				return err
			}
			if record != "" {
				return times.Record(record, commandLine(cmd, args))
			}
			return out.print(cmd.OutOrStdout(), frame.Of(times.Rows))
		},
	}
	f := cmd.Flags()
	f.StringVar(&table, "variants", "", "CSV file of the variants")
	f.Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.StringSliceVar(&machines, "machine", []string{"ultrasparc-2", "supersparc-2", "ultrasparc-1", "supersparc-1"}, "machines, by name or file")
	f.Float64Var(&opt.UseCycles, "use-cycles", 2, "cycles from a load to the first use of its value")
	f.Float64Var(&opt.FragmentPages, "fragment", target.DefaultFragmentPages, "mean length of fragments of free memory, in pages")
	f.StringVar(&dir, "store", "", "folder that keeps simulated times (default the user's)")
	f.StringVar(&record, "record", "", "file to write the rows to")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("variants")
	out.register(cmd)
	return cmd
}
