package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/study/growth"
	"presage/perf/subject"
	"presage/perf/timing"
)

func studyCommand() *cobra.Command {
	var (
		flags               validationFlags
		large, curve, times sweepFlag
		s                   growth.Options
		only                onlyFlags
		sampled             sweepFlag
	)
	cmd := &cobra.Command{
		Use:   "study PROGRAM --machine NAME --train name=values --at name=values --curve name=values --record PREFIX",
		Short: "Record how a program's misses and time grow, and the errors of predictions",
		Long: `study does what validate does, by program, routine and loop, and predicts misses
and execution time over the sizes of --curve; at those of --time-at, which are
among them, it simulates the core instruction by instruction. It writes four
tables, PREFIX-misses.csv, PREFIX-curves.csv, PREFIX-times.csv and, of the times of
routines and loops, PREFIX-scopetimes.csv, and this command, the date and checksums to
recordings.csv beside them.

With --scope-times it writes the last of these alone, from --train and --time-at, and with
--curve the table of times, too: caches are not simulated by themselves, which takes most of
the time of a study.

With --sample-at it predicts time at those sizes and simulates intervals of the runs
in place of all of them, --intervals at places spread over each, and writes
PREFIX-sampled.csv: cycles estimated from the intervals, with the bounds that they lie
between in 95 of 100 cases, as far as the choice of places goes. Runs too long to be simulated as
a whole are estimated in a tenth of the time or less.

With --recipe it predicts misses as the papers do, with histograms split in the median
ratio at all sizes, powers of the size alone, and the binomial formula, and writes
PREFIX-recipe.csv, to be set beside PREFIX-misses.csv; it simulates nothing.

Simulations are kept in the store: an interrupted study resumes where it stopped.`,
		Example: `  presage study ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --machine origin2000,itanium2 --pages 16384 \
    --train n=22,29,33,38,43,49 --at n=16:64:8 --large n=100,120 --curve n=10:200:10 --time-at n=20,40,60 --record sweep3d
  presage study ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --machine origin2000 \
    --train n=22,29,33,38,43,49 --sample-at n=100,200 --record sweep3d`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.SampleAt = sampled.points; len(s.SampleAt) > 0 {
				return recordSampled(cmd, args, &flags, s)
			}
			if err := neither(cmd, "a study without --sample-at", "intervals", "history"); err != nil {
				return err
			}
			s.Train, s.Judge, s.Large, s.Curve, s.Times = flags.train.points, flags.judge.points, large.points, curve.points, times.points
			if err := only.check(&s); err != nil {
				return err
			}
			if only.scopeTimes {
				if err := neither(cmd, "--scope-times", "at", "large", "pages"); err != nil {
					return err
				}
			}
			prog, err := flags.studied(cmd, args, &s)
			if err != nil {
				return err
			}
			s.By = []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop}
			if only != (onlyFlags{}) {
				return only.record(cmd.Context(), s, prog, flags.record, commandLine(cmd, args))
			}
			found, err := s.Run(cmd.Context(), prog)
			if err != nil {
				return err
			}
			if err := found.Record(flags.record, commandLine(cmd, args)); err != nil {
				return err
			}
			summary, err := perf.Accuracy(perf.Frame(found.Misses), "of", "level")
			if err != nil {
				return err
			}
			return (&output{format: "text"}).print(cmd.OutOrStdout(), summary)
		},
	}
	flags.register(cmd, &s.Validation, "routines and loops")
	f := cmd.Flags()
	f.Var(&large, "large", "further sizes, without the simulation of fully associative caches")
	f.Var(&curve, "curve", "problem sizes of the predicted curves")
	f.Var(&times, "time-at", "sizes of the curve at which execution is simulated")
	f.Var(&sampled, "sample-at", "sizes at which intervals of the run are simulated, and time is predicted: writes PREFIX-sampled.csv alone")
	f.IntVar(&s.Sampling.Intervals, "intervals", timing.DefaultIntervals, "with --sample-at: how many intervals of each run; 0: the default")
	f.Uint64Var(&s.Sampling.History, "history", timing.DefaultHistory, "with --sample-at: "+historyText)
	f.BoolVar(&only.recipe, "recipe", false, "predict misses by the papers' own recipe instead")
	f.BoolVar(&only.scopeTimes, "scope-times", false, "predict and simulate time alone, of routines and loops, and with --curve of the program")
	f.StringVar(&flags.record, "record", "", "name prefix of the files to write")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

// neither returns an error if one of some flags was given, none of which goes with what.
func neither(cmd *cobra.Command, what string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with %s: leave out one of the two", name, what)
		}
	}
	return nil
}

// onlyFlags say which part of a study is asked for; none: all but the recipe.
type onlyFlags struct{ recipe, scopeTimes bool }

// check returns an error if sizes that the parts need are missing.
func (only onlyFlags) check(s *growth.Options) error {
	switch {
	case only.recipe && only.scopeTimes:
		return errors.New("--recipe predicts misses alone, --scope-times times alone: choose one")
	case only.scopeTimes:
		if len(s.Train) == 0 || len(s.Times) == 0 {
			return errors.New("no sizes: give those to fit to with --train and those at which time is simulated with --time-at, such as --train n=20:50:6 --time-at n=32,56")
		}
	case len(s.Train) == 0 || len(s.Curve) == 0 && !only.recipe || len(s.Judge)+len(s.Large) == 0:
		return errors.New("no sizes: give those to fit to with --train, those to judge at with --at, those of the curves with --curve, such as --train n=20:50:6 --at n=75,100 --curve n=10:200:10")
	}
	return nil
}

// record makes the part that is asked for and writes its table.
func (only onlyFlags) record(ctx context.Context, s growth.Options, prog *perf.Program, prefix, command string) error {
	if only.recipe {
		rows, err := s.Recipe(ctx, prog)
		if err != nil {
			return err
		}
		return growth.RecordRecipe(prog, rows, prefix, command)
	}
	found, err := s.OnlyTimes(ctx, prog)
	if err != nil {
		return err
	}
	return found.Record(prefix, command)
}

// studied opens the program of a study, and sets the study's options that the flags have.
func (flags *validationFlags) studied(cmd *cobra.Command, args []string, s *growth.Options) (*perf.Program, error) {
	prog, err := openProgram(cmd.Context(), args[0])
	if err != nil {
		return nil, err
	}
	if err := flags.read(&s.Validation); err != nil {
		return nil, err
	}
	s.Campaign, err = flags.on.runner(cmd, args)
	return prog, err
}

// recordSampled predicts and samples the times of a study, and prints and records them.
func recordSampled(cmd *cobra.Command, args []string, flags *validationFlags, s growth.Options) error {
	if err := neither(cmd, "--sample-at", "at", "large", "curve", "time-at", "recipe", "scope-times", "pages", "min-share"); err != nil {
		return err
	}
	if len(flags.train.points) == 0 {
		return errors.New("no sizes to fit to: give them with --train, such as --train n=20:50:6")
	}
	prog, err := flags.studied(cmd, args, &s)
	if err != nil {
		return err
	}
	table, err := s.SampledTimes(cmd.Context(), prog)
	if err != nil {
		return err
	}
	if err := growth.RecordSampled(prog, table, flags.record, commandLine(cmd, args)); err != nil {
		return err
	}
	return (&output{format: "text"}).print(cmd.OutOrStdout(), table)
}
