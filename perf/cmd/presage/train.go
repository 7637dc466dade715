package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/training"
)

func trainCommand() *cobra.Command {
	var (
		until, from, fixed sweepFlag
		points             pointsFlag
		run                runFlags
		on                 campaignFlags
		out                output
		opt                perf.TrainOptions
		blocks             []uint
		names              []string
		dir                string
		stack, heldOut     bool
	)
	cmd := &cobra.Command{
		Use:   "train {PROGRAM | --point name=value:PROGRAM …} --until name=value -o DIR",
		Short: "Choose the sizes to profile a program at, and check the predictions",
		Long: `train profiles PROGRAM, a static linux/riscv64 executable, the folder of a Go main
package, or an executable of this x86-64 Linux computer, at sizes of its own choice, and keeps the profiles in DIR, where predict
and query find them. It begins with five small sizes, fits models to all runs and to
all but the largest, and judges the second where the largest is: its errors there are
those of true predictions. As long as they, or the change that the largest run makes
at the size of --until, are above --error, it runs the program at the size where
models differ most for what the run costs. Sizes do not all share a factor of two. Once
no larger run fits into --budget, a last one, of which only a sample of the memory
blocks is observed, judges the models beyond the others.

It prints a row for each run, and why it stopped. With --held-out it prints the errors
at the largest size by block size instead. The budget is wall time of runs and fits;
runs that DIR holds count with the time that they took when they were made, so that a
repeated command makes the same choices, and does so fast.

Where the size is fixed at compile time, give each size its own executable of the
same source with --point; train chooses among them.`,
		Example: `  presage train ./sweep3d --args "-n {n} -iterations 1" --until n=80 --budget 2m -o profiles
  presage predict profiles --machine origin2000 --at n=60,80
  presage train ./solver --args "{n} {steps}" --until n=2000 --from n=64 --fix steps=10 --error 0.01 --machine zen4 -o profiles
  presage train --point n=20:./prog.20 --point n=25:./prog.25 --point n=31:./prog.31 --point n=38:./prog.38 --until n=100 -o profiles`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if dir == "" {
				return errors.New("--output: want the name of a folder")
			}
			if err := trainSizes(&opt, &until, &from, &fixed); err != nil {
				return err
			}
			var err error
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			if opt.Campaign, err = on.runner(cmd, args); err != nil {
				return err
			}
			opt.Store, opt.MustKeep, opt.DataOnly = store.Open(dir), true, !stack
			if opt.BlockBytes, err = blockSizes(blocks, names); err != nil {
				return err
			}
			prog, err := whatToTrain(cmd, args, &points, &opt)
			if err != nil {
				return err
			}
			trained, err := perf.Train(cmd.Context(), prog, opt)
			if err != nil {
				return err
			}
			if err := trained.Runs.Save(dir); err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), trained.Warnings)
			sayWhy(cmd.ErrOrStderr(), trained)
			if heldOut {
				return out.print(cmd.OutOrStdout(), perf.Frame(trained.HeldOut))
			}
			return out.print(cmd.OutOrStdout(), perf.Frame(trained.Steps))
		},
	}
	f := cmd.Flags()
	f.Var(&until, "until", "the parameter that is the size, and the largest value that predictions are wanted for: name=value")
	f.Var(&from, "from", "smallest size: name=value (default a twelfth of --until, and at least 8)")
	f.Var(&fixed, "fix", "value of a parameter that does not vary: name=value; repeat for further ones")
	f.Var(&points, "point", "a size with the executable compiled for it: name=value:PROGRAM; repeat for each")
	f.DurationVar(&opt.Budget, "budget", training.DefaultBudget, "wall time that runs and fits may take, such as 90s or 2m")
	f.Float64Var(&opt.Error, "error", training.DefaultError, "relative error that is good enough, of nine in ten predictions at the largest size")
	f.BoolVar(&heldOut, "held-out", false, "print the errors at the largest size, held out, by block size")
	f.UintSliceVar(&blocks, "block", nil, fmt.Sprintf("memory block sizes in bytes (default %v)", locality.DefaultBlockBytes))
	f.StringSliceVar(&names, "machine", nil, "collect the block sizes of these machines")
	f.BoolVar(&stack, "stack", true, "record saved and spilled registers and arguments on the stack, too, as simulations do; false: only count them")
	f.StringVarP(&dir, "output", "o", "", "folder for the profiles")
	_ = cmd.MarkFlagRequired("output")
	_ = cmd.MarkFlagRequired("until")
	run.register(cmd)
	on.register(cmd)
	out.register(cmd)
	return cmd
}

// trainSizes sets the sizes that the flags request.
func trainSizes(opt *perf.TrainOptions, until, from, fixed *sweepFlag) error {
	if len(until.points) != 1 || len(until.points[0]) != 1 {
		return fmt.Errorf("--until %s: want one name=value", until)
	}
	opt.Parameter = until.points[0].Names()[0]
	opt.Until = until.points[0][opt.Parameter]
	if len(from.points) > 0 {
		v, ok := from.points[0][opt.Parameter]
		if len(from.points) != 1 || len(from.points[0]) != 1 || !ok {
			return fmt.Errorf("--from %s: want one %s=value", from, opt.Parameter)
		}
		opt.From = v
	}
	if len(fixed.points) > 1 {
		return fmt.Errorf("--fix %s: want one value for each parameter", fixed)
	}
	if len(fixed.points) == 1 {
		opt.Fixed = fixed.points[0]
	}
	return nil
}

// whatToTrain returns the program that the arguments name, or sets the executables of
// the options and returns none.
func whatToTrain(cmd *cobra.Command, args []string, points *pointsFlag, opt *perf.TrainOptions) (*perf.Program, error) {
	switch {
	case len(points.points) > 0 && len(args) > 0:
		return nil, errors.New("--point names its own PROGRAM and size: give no other")
	case len(points.points) > 0:
		var err error
		opt.Binaries, err = points.open(cmd.Context())
		return nil, err
	case len(args) == 0:
		return nil, errors.New("no program: name one, or give the executables of each size with --point n=20:prog.20")
	}
	return openProgram(cmd.Context(), args[0])
}

// sayWhy says why training ended, and with which errors.
func sayWhy(w io.Writer, t *training.Trained) {
	held := t.HeldOut[0]
	at := perf.Point(held.Point)
	if held.Capacities == 0 {
		fmt.Fprintf(w, "%s after %.1f s; too few misses at %s to judge the models\n", t.Stopped, t.Spent, at)
		return
	}
	fmt.Fprintf(w, "%s after %.1f s; errors at %s (%s), held out: median %.2f%%, nine in ten within %.2f%%, worst %.1f%%, of %d capacities\n",
		t.Stopped, t.Spent, at, held.Run, 100*held.Median, 100*held.P90, 100*held.Worst, held.Capacities)
}
