package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/store"
)

func timeCommand() *cobra.Command {
	var (
		at      sweepFlag
		out     output
		opt     perf.TimeOptions
		machine string
	)
	cmd := &cobra.Command{
		Use:   "time DIR --machine NAME --at name=values",
		Short: "Predict execution time at sizes that were never run",
		Long: `time predicts how long the program whose profiles are in DIR takes on a machine at
each size: the schedule of its paths for the machine's core, with frequencies
modelled over the size, plus the cost of misses and mispredicted branches. The
program is run once more at the sizes of the profiles, to count how often its
edges are executed; the counts are kept in DIR. Profiles must have the block sizes
of the machine (presage profile --machine).`,
		Example: `  presage profile ./sweep3d --sweep n=20:50:6 --machine zen4,origin2000 -o profiles
  presage time profiles --machine zen4 --at n=64,100
  presage time profiles --machine origin2000 --at n=64 --by routine --fixed-exposure --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(at.points) == 0 {
				return errors.New("no sizes: give them with --at, such as --at n=60,80")
			}
			m, err := perf.FindMachine(machine)
			if err != nil {
				return err
			}
			runs, err := locality.LoadRuns(args[0])
			if err != nil {
				return err
			}
			st := store.Open(args[0])
			model, err := perf.FitScaling(cmd.Context(), runs, perf.FitOptions{Store: st})
			if err != nil {
				return err
			}
			execution, err := executionOf(cmd.Context(), runs, st)
			if err != nil {
				return err
			}
			df, err := perf.PredictTime(cmd.Context(), model, execution, m, at.points, opt)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.Var(&at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.StringVar(&machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar((*string)(&opt.By), "by", "program", "scope of a row: program, routine or loop")
	registerListing(cmd, &opt.Listing, "the cycles")
	registerMethod(f, &opt.Method)
	f.BoolVar(&opt.Reschedule, "reschedule", false, "reorder instructions for the core, as a compiler for it could")
	f.BoolVar(&opt.Pessimistic, "pessimistic", false, "assume that memory references that are not understood are dependent")
	f.BoolVar(&opt.FixedExposure, "fixed-exposure", false, "expose fixed shares of latencies, as given in the machine's description and used in the paper")
	_ = cmd.MarkFlagRequired("machine")
	out.register(cmd)
	return cmd
}

// executionOf models how often the profiled program executes its edges, from runs
// with the same inputs as the profiles.
func executionOf(ctx context.Context, runs *perf.Runs, st *store.Store) (*perf.ExecutionModel, error) {
	var all []*perf.Counts
	for i := range runs.Runs {
		c, err := runs.Runs[i].Count(ctx, st)
		if err != nil {
			return nil, fmt.Errorf("counting: %w", err)
		}
		all = append(all, c)
	}
	return perf.FitExecution(ctx, all)
}
