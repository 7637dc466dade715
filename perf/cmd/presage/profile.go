package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/store"
)

func profileCommand() *cobra.Command {
	var (
		sweep  sweepFlag
		run    runFlags
		out    output
		blocks []uint
		names  []string
		stack  bool
		dir    string
	)
	cmd := &cobra.Command{
		Use:   "profile PROGRAM --sweep name=values -o DIR",
		Short: "Run a program at several sizes and keep its reuse-distance histograms",
		Long: `profile runs PROGRAM, a static linux/riscv64 executable or the folder of a Go
main package, once for each point of the sweep, collects the exact reuse-distance
histogram of every group of memory references with similar access patterns at
several block sizes, and keeps it in DIR.
Each run is kept as soon as it has ended: a sweep that was interrupted goes on
where it stopped. DIR then stands for this sweep; runs of earlier ones stay in it
and are not repeated when asked for again. It prints a row for each run.`,
		Example: `  presage profile ./sweep3d --sweep n=20,26,32 --args "-n {n}" --block 32,128,32768 -o profiles
  presage profile ./datasets/programs/sweep3d --sweep n=12:40:4 -o profiles --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(sweep.points) == 0 {
				return errors.New("no sizes: give them with --sweep, such as --sweep n=20,26,32")
			}
			prog, err := openProgram(args[0])
			if err != nil {
				return err
			}
			if dir == "" {
				return errors.New("--output: want the name of a folder")
			}
			var opt perf.ProfileOptions
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			opt.Store, opt.Stack = store.Open(dir), stack
			if opt.BlockBytes, err = blockSizes(blocks, names); err != nil {
				return err
			}
			runs, err := perf.Profile(cmd.Context(), prog, sweep.points, opt)
			if err != nil {
				return err
			}
			if err := runs.Save(dir); err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), runs.Warnings)
			return out.print(cmd.OutOrStdout(), runs.Frame())
		},
	}
	cmd.Flags().Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	cmd.Flags().UintSliceVar(&blocks, "block", nil, fmt.Sprintf("memory block sizes in bytes (default %v)", perf.DefaultBlockBytes))
	cmd.Flags().StringSliceVar(&names, "machine", nil, "collect the block sizes of these machines")
	cmd.Flags().BoolVar(&stack, "stack", false, "record saved and spilled registers and arguments on the stack, too, as a simulation does (default: only count them)")
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder for the profiles")
	_ = cmd.MarkFlagRequired("output")
	run.register(cmd)
	out.register(cmd)
	return cmd
}

// blockSizes returns the sizes asked for and those of the machines named; none
// for the default.
func blockSizes(blocks []uint, machines []string) ([]uint64, error) {
	var sizes []uint64
	for _, b := range blocks {
		sizes = append(sizes, uint64(b))
	}
	for _, name := range machines {
		m, err := perf.FindMachine(name)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, m.BlockBytes()...)
	}
	return sizes, nil
}

func histogramCommand() *cobra.Command {
	var (
		opt     perf.HistogramOptions
		out     output
		hottest int
	)
	cmd := &cobra.Command{
		Use:   "histogram DIR",
		Short: "Print reuse-distance histograms of stored profiles",
		Long: `histogram prints the reuse-distance histogram of the references chosen at each
size: a row for each bin [lo, hi) that is not empty. With --hottest it lists the
references with the most accesses at the last size instead.`,
		Example: `  presage histogram profiles --block 128 --routine main.solveLine --format csv
  presage histogram profiles --hottest 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			runs, err := perf.LoadRuns(args[0])
			if err != nil {
				return err
			}
			if hottest > 0 {
				if opt.BlockBytes == 0 {
					opt.BlockBytes = runs.BlockBytes()[0]
				}
				df, err := perf.Hottest(runs, opt.BlockBytes, hottest)
				if err != nil {
					return err
				}
				return out.print(cmd.OutOrStdout(), df)
			}
			df, err := perf.ReuseHistogram(runs, opt)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	cmd.Flags().Uint64Var(&opt.BlockBytes, "block", 0, "memory block size in bytes (default the smallest profiled)")
	cmd.Flags().StringVar(&opt.Routine, "routine", "", "only the references of this routine")
	cmd.Flags().Uint64Var(&opt.PC, "pc", 0, "only the reference at this address, such as 0x98efe")
	cmd.Flags().IntVar(&hottest, "hottest", 0, "list so many references with the most accesses")
	out.register(cmd)
	return cmd
}
