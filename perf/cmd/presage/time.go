package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
)

func timeCommand() *cobra.Command {
	var (
		at      sweepFlag
		out     output
		opt     perf.TimeOptions
		machine string
		replay  replayFlags
	)
	cmd := &cobra.Command{
		Use:   "time DIR --machine NAME --at name=values",
		Short: "Predict execution time at sizes that were never run",
		Long: `time predicts how long the program whose profiles are in DIR takes on a machine at
each size: the schedule of its paths for the machine's core, with frequencies
modelled over the size, and what is added in a walk through the program by these
frequencies: paths that mix, routines and loops that overlap, misses and mispredicted
branches. The program is run once more at the sizes of the profiles, to count how often
its edges are executed; the counts are kept in DIR. The largest run that takes no more
than some seconds is simulated on the machine, as it tells how well branches that depend
on data are predicted. Profiles must have the block sizes of the machine (presage
profile --machine).`,
		Example: `  presage profile ./sweep3d --sweep n=20:50:6 --machine zen4,origin2000 -o profiles
  presage time profiles --machine zen4 --at n=64,100
  presage time profiles --machine origin2000 --at n=64 --by routine --fixed-exposure --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			on, err := timedOn(cmd.Context(), args[0], machine, &at)
			if err != nil {
				return err
			}
			opt.TrainedSizesOnly = replay.trainedOnly
			if !replay.on {
				opt.Corrector = misses.NoCorrection{}
			}
			df, err := perf.PredictTime(cmd.Context(), on.model, on.execution, on.machine, at.points, opt)
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
	replay.register(f)
	f.BoolVar(&opt.Reschedule, "reschedule", false, "reorder instructions for the core, as a compiler for it could")
	f.BoolVar(&opt.Pessimistic, "pessimistic", false, "assume that memory references that are not understood are dependent")
	f.BoolVar(&opt.FixedExposure, "fixed-exposure", false, "expose fixed shares of latencies, as given in the machine's description and used in the paper")
	_ = cmd.MarkFlagRequired("machine")
	out.register(cmd)
	return cmd
}

// timed is what times of a profiled program on a machine follow from.
type timed struct {
	machine   *machine.Machine
	model     *perf.Model
	execution *perf.ExecutionModel
}

// timedOn finds the machine and models the profiles of a folder. It returns an error if
// no sizes are given.
func timedOn(ctx context.Context, dir, name string, at *sweepFlag) (*timed, error) {
	if len(at.points) == 0 {
		return nil, errors.New("no sizes: give them with --at, such as --at n=60,80")
	}
	m, err := perf.FindMachine(name)
	if err != nil {
		return nil, err
	}
	runs, err := locality.LoadRuns(dir)
	if err != nil {
		return nil, err
	}
	st := store.Open(dir)
	model, err := perf.FitScaling(ctx, runs, perf.FitOptions{Store: st})
	if err != nil {
		return nil, err
	}
	execution, err := executionOf(ctx, runs, st)
	if err != nil {
		return nil, err
	}
	return &timed{m, model, execution}, nil
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
