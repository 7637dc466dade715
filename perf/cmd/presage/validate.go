package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
)

func validateCommand() *cobra.Command {
	var (
		flags validationFlags
		out   output
		v     misses.Validation
		by    []string
	)
	cmd := &cobra.Command{
		Use:   "validate {PROGRAM | --point name=value:PROGRAM …} --machine NAME --train name=values --at name=values",
		Short: "Compare predictions with exact simulation, and explain their errors",
		Long: `validate profiles PROGRAM at the sizes of --train, fits models, predicts misses at
the sizes of --at, and simulates these sizes exactly. It prints a row for each
machine, size and level of the program, and of each routine with a share of the
level's misses: misses predicted and simulated, the relative errors, and the cause
of a large one (conflicts, distances near the capacity, or the model).
With --summary it prints the distribution of the errors instead. With --record it
writes the rows to a file, and this command, the date and a checksum to
recordings.csv beside it.

Where the size is fixed at compile time, give each size of --train and --at its own
executable with --point.`,
		Example: `  presage validate ./datasets/programs/cg --machine origin2000,itanium2 --train n=20:50:6 --at n=75,100
  presage validate ./sweep3d --args "-n {n} -iterations 2" --machine origin2000 --train n=20:50:6 --at n=75 --summary of,level
  presage validate --point n=20:./prog.20 --point n=26:./prog.26 --point n=32:./prog.32 --point n=64:./prog.64 --machine zen4 --train n=20,26,32 --at n=64`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(flags.train.points) == 0 || len(flags.judge.points) == 0 {
				return errors.New("no sizes: give those to fit to with --train and those to judge at with --at, such as --train n=20:50:6 --at n=75,100")
			}
			prog, err := flags.whatToValidate(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := flags.read(&v); err != nil {
				return err
			}
			if v.Campaign, err = flags.on.runner(cmd, args); err != nil {
				return err
			}
			df, err := perf.Validate(cmd.Context(), prog, v)
			if err != nil {
				return err
			}
			if flags.record != "" {
				if err := recordValidation(flags.record, validated(prog, &v), df, commandLine(cmd, args)); err != nil {
					return err
				}
			}
			if len(by) > 0 {
				if df, err = perf.Accuracy(df, by...); err != nil {
					return err
				}
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	flags.register(cmd, &v, "routines")
	f := cmd.Flags()
	f.Var(&flags.points, "point", "a size of --train or --at with the executable compiled for it: name=value:PROGRAM; repeat for each")
	f.StringVar(&v.Fit.Basis, "basis", "", `basis functions of the models, such as "1, n, n^2, n^3, n*log(n)" (default powers up to the third)`)
	f.BoolVar(&v.Fit.MedianRatio, "median-ratio", false, "split histograms in the same ratio at all sizes, as the papers do")
	f.StringSliceVar(&by, "summary", nil, "print medians, means and the worst of the errors instead, for each value of these columns, such as of,level")
	f.StringVar(&flags.record, "record", "", "file to write the rows to")
	out.register(cmd)
	return cmd
}

// validationFlags are the flags that validate and study share.
type validationFlags struct {
	train, judge sweepFlag
	points       pointsFlag
	binaries     []subject.BinaryPoint // of points
	run          runFlags
	on           campaignFlags
	machines     []string
	dir, record  string
	replay       replayFlags
}

// register adds the flags; by names the scopes to which --min-share applies.
func (f *validationFlags) register(cmd *cobra.Command, v *misses.Validation, by string) {
	flags := cmd.Flags()
	flags.Var(&f.train, "train", "problem sizes to fit to: name=value,… or name=first:last:step; repeat for further parameters")
	flags.Var(&f.judge, "at", "problem sizes to judge misses at, the same way")
	flags.StringSliceVar(&f.machines, "machine", nil, "machines: names (see presage machines) or .yaml files")
	flags.Float64Var(&v.MinShare, "min-share", misses.DefaultMinShare, "leave out "+by+" with less than this share of a level's misses; 0: none")
	flags.Uint64Var(&v.PageBytes, "pages", 0, "simulate caches beyond the first as indexed by physical addresses, with pages of this many bytes placed at random; 0: by the program's addresses")
	registerMethod(flags, &v.Method)
	f.replay.register(flags)
	flags.StringVar(&f.dir, "store", "", "folder that keeps profiles and simulations (default the user's)")
	_ = cmd.MarkFlagRequired("machine")
	f.run.register(cmd)
	f.on.register(cmd)
}

// whatToValidate returns the program that the arguments name, or opens the
// executables of each size.
func (f *validationFlags) whatToValidate(ctx context.Context, args []string) (*perf.Program, error) {
	switch {
	case len(f.points.points) > 0 && len(args) > 0:
		return nil, errors.New("--point names its own PROGRAM: give no other")
	case len(args) > 0:
		return openProgram(ctx, args[0])
	case len(f.points.points) == 0:
		return nil, errors.New("no program: name one, or give the executables of each size with --point n=20:prog.20")
	}
	var err error
	f.binaries, err = f.points.open(ctx)
	return nil, err
}

// validated names what was validated, with its digests.
func validated(prog *perf.Program, v *misses.Validation) string {
	if prog != nil {
		return prog.Name + ", SHA-256 " + prog.File.SHA256
	}
	var list []string
	for _, b := range v.Binaries {
		list = append(list, fmt.Sprintf("%s of %s, SHA-256 %s", b.Program.Name, b.Point, b.Program.File.SHA256))
	}
	return strings.Join(list, "; ")
}

// read sets the fields of v from the flags.
func (f *validationFlags) read(v *misses.Validation) error {
	if !(v.MinShare >= 0 && v.MinShare <= 1) {
		return fmt.Errorf("--min-share %g: want a share from 0 to 1", v.MinShare)
	}
	for _, name := range f.machines {
		m, err := perf.FindMachine(name)
		if err != nil {
			return err
		}
		v.Machines = append(v.Machines, m)
	}
	var err error
	if v.RunOptions, err = f.run.options(); err != nil {
		return err
	}
	v.Binaries = f.binaries
	if f.dir != "" {
		v.Store = store.Open(f.dir)
	}
	v.Train, v.Judge = f.train.points, f.judge.points
	v.TrainedSizesOnly = f.replay.trainedOnly
	if !f.replay.on {
		v.Correctors = func(context.Context, *misses.Model, *machine.Machine) (misses.Corrector, error) {
			return misses.NoCorrection{}, nil
		}
	}
	if v.MinShare == 0 {
		v.MinShare = -1 // asked for: none is left out
	}
	return nil
}

func recordValidation(path, what string, df dataframe.DataFrame, command string) error {
	return perf.Record(path, df, record.Source{
		Origin:  "predicted and simulated by presage; " + what,
		Command: command,
	})
}
