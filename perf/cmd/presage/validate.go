package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/study/record"
)

func validateCommand() *cobra.Command {
	var (
		flags validationFlags
		out   output
		v     perf.Validation
		by    []string
	)
	cmd := &cobra.Command{
		Use:   "validate PROGRAM --machine NAME --train name=values --at name=values",
		Short: "Compare predictions with exact simulation, and explain their errors",
		Long: `validate profiles PROGRAM at the sizes of --train, fits models, predicts misses at
the sizes of --at, and simulates these sizes exactly. It prints a row for each
machine, size and level of the program, and of each routine with a share of the
level's misses: misses predicted and simulated, the relative errors, and the cause
of a large one (conflicts, distances near the capacity, or the model).
With --summary it prints the distribution of the errors instead. With --record it
writes the rows to a file, and this command, the date and a checksum to
recordings.csv beside it.`,
		Example: `  presage validate ./datasets/programs/cg --machine origin2000,itanium2 --train n=20:50:6 --at n=75,100
  presage validate ./sweep3d --args "-n {n} -iterations 2" --machine origin2000 --train n=20:50:6 --at n=75 --summary of,level`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(flags.train.points) == 0 || len(flags.judge.points) == 0 {
				return errors.New("no sizes: give those to fit to with --train and those to judge at with --at, such as --train n=20:50:6 --at n=75,100")
			}
			prog, err := flags.read(cmd.Context(), args[0], &v)
			if err != nil {
				return err
			}
			df, err := perf.Validate(cmd.Context(), prog, v)
			if err != nil {
				return err
			}
			if flags.record != "" {
				if err := recordValidation(flags.record, prog, df, commandLine(cmd, args)); err != nil {
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
	run          runFlags
	machines     []string
	dir, record  string
}

// register adds the flags; by names the scopes to which --min-share applies.
func (f *validationFlags) register(cmd *cobra.Command, v *perf.Validation, by string) {
	flags := cmd.Flags()
	flags.Var(&f.train, "train", "problem sizes to fit to: name=value,… or name=first:last:step; repeat for further parameters")
	flags.Var(&f.judge, "at", "problem sizes to judge misses at, the same way")
	flags.StringSliceVar(&f.machines, "machine", nil, "machines: names (see presage machines) or .yaml files")
	flags.Float64Var(&v.MinShare, "min-share", misses.DefaultMinShare, "leave out "+by+" with less than this share of a level's misses; 0: none")
	flags.Uint64Var(&v.PageBytes, "pages", 0, "simulate caches beyond the first as indexed by physical addresses, with pages of this many bytes placed at random; 0: by the program's addresses")
	registerMethod(flags, &v.Method)
	flags.StringVar(&f.dir, "store", "", "folder that keeps profiles and simulations (default the user's)")
	_ = cmd.MarkFlagRequired("machine")
	f.run.register(cmd)
}

// read opens the program and sets the fields of v from the flags.
func (f *validationFlags) read(ctx context.Context, program string, v *perf.Validation) (*perf.Program, error) {
	if !(v.MinShare >= 0 && v.MinShare <= 1) {
		return nil, fmt.Errorf("--min-share %g: want a share from 0 to 1", v.MinShare)
	}
	for _, name := range f.machines {
		m, err := perf.FindMachine(name)
		if err != nil {
			return nil, err
		}
		v.Machines = append(v.Machines, m)
	}
	prog, err := openProgram(ctx, program)
	if err != nil {
		return nil, err
	}
	if v.RunOptions, err = f.run.options(); err != nil {
		return nil, err
	}
	if f.dir != "" {
		v.Store = store.Open(f.dir)
	}
	v.Train, v.Judge = f.train.points, f.judge.points
	if v.MinShare == 0 {
		v.MinShare = -1 // asked for: none is left out
	}
	return prog, nil
}

func recordValidation(path string, prog *perf.Program, df dataframe.DataFrame, command string) error {
	return perf.Record(path, df, record.Source{
		Origin:  fmt.Sprintf("predicted and simulated by presage; %s, SHA-256 %s", prog.Name, prog.File.SHA256),
		Command: command,
	})
}
