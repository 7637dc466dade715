package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/store"
)

func profileCommand() *cobra.Command {
	var (
		sweep  sweepFlag
		points pointsFlag
		run    runFlags
		on     campaignFlags
		out    output
		opt    perf.ProfileOptions
		blocks []uint
		names  []string
		dir    string
		stack  bool
	)
	cmd := &cobra.Command{
		Use:   "profile {PROGRAM --sweep name=values | --point name=value:PROGRAM …} -o DIR",
		Short: "Run a program at several sizes and keep its reuse-distance histograms",
		Long: `profile runs PROGRAM, a static linux/riscv64 executable, the folder of a Go main
package, or an executable of this x86-64 Linux computer with the shared libraries
that it loads, once for each point of the sweep, collects the exact reuse-distance
histogram of every group of memory references with similar access patterns at
several block sizes, and keeps it in DIR.
Each run is kept as soon as it has ended: an interrupted sweep resumes where it
stopped. DIR then represents this sweep; runs of earlier sweeps stay in it and are
not repeated when requested again. It prints a row for each run.

Where the size is fixed at compile time, give each point its own executable of
the same source with --point. Scopes and references of the executables are then
matched by routine, loop and line; warnings list those without a counterpart.

Models take three sizes at least, and five to be worth trusting. Sizes that change
nothing are an error: see --args.

--sample observes the reuses of only a part of the memory blocks. This is faster,
and the result is an estimate whose uncertainty is given in warnings.`,
		Example: `  presage profile ./sweep3d --sweep n=20,26,32 --args "-n {n}" --block 32,128,32768 -o profiles
  presage profile ./datasets/programs/sweep3d --sweep n=12:40:4 -o profiles --format csv
  presage profile --point n=20:./prog.20 --point n=26:./prog.26 --point n=32:./prog.32 -o profiles
  presage profile ./sweep3d --sweep n=60,80 --args "-n {n}" --sample 64 -o sampled`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if dir == "" {
				return errors.New("--output: want the name of a folder")
			}
			todo, err := whatToProfile(cmd.Context(), args, &sweep, &points)
			if err != nil {
				return err
			}
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
			runs, err := todo(cmd.Context(), opt)
			if err != nil {
				return err
			}
			if err := runs.Save(dir); err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), runs.Warnings)
			if n := len(runs.Runs); n < locality.MinSizes {
				warn(cmd.ErrOrStderr(), []string{fmt.Sprintf("models take %d sizes at least, and five to be worth trusting: predict and query will refuse this profile of %d", locality.MinSizes, n)})
			}
			return out.print(cmd.OutOrStdout(), perf.Frame(runs.Rows()))
		},
	}
	cmd.Flags().Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	cmd.Flags().Var(&points, "point", "a problem size with the executable compiled for it: name=value:PROGRAM; repeat for each")
	cmd.Flags().Uint64Var(&opt.SampleOneIn, "sample", 0, "sample one memory block in this many, a power of two (default: all, which is exact)")
	cmd.Flags().Uint64Var(&opt.SampleSeed, "sample-seed", 0, "seed that selects the blocks of --sample")
	cmd.Flags().BoolVar(&opt.Carriers, "carriers", false, "find the loop that carries each reuse, the object and the scope that accessed it before, too, for presage explain; takes one to three times as long")
	cmd.Flags().UintSliceVar(&blocks, "block", nil, fmt.Sprintf("memory block sizes in bytes (default %v)", locality.DefaultBlockBytes))
	cmd.Flags().StringSliceVar(&names, "machine", nil, "collect the block sizes of these machines")
	cmd.Flags().BoolVar(&stack, "stack", true, "record saved and spilled registers and arguments on the stack, too, as simulations do; false: only count them")
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder for the profiles")
	_ = cmd.MarkFlagRequired("output")
	run.register(cmd)
	on.register(cmd)
	out.register(cmd)
	return cmd
}

// whatToProfile returns the runs that the arguments request: of one program at the
// points of a sweep, or of several executables at one point each.
func whatToProfile(ctx context.Context, args []string, sweep *sweepFlag, points *pointsFlag) (func(context.Context, perf.ProfileOptions) (*perf.Runs, error), error) {
	switch {
	case len(points.points) > 0 && (len(args) > 0 || len(sweep.points) > 0):
		return nil, errors.New("--point names its own PROGRAM and size: give no other, and no --sweep")
	case len(points.points) > 0:
		binaries, err := points.open(ctx)
		return func(ctx context.Context, opt perf.ProfileOptions) (*perf.Runs, error) {
			return locality.ProfileBinaries(ctx, binaries, opt)
		}, err
	case len(args) == 0:
		return nil, errors.New("no program: name one, or give the executables of each size with --point n=20:prog.20")
	case len(sweep.points) == 0:
		return nil, errors.New("no sizes: give them with --sweep, such as --sweep n=20,26,32")
	}
	prog, err := openProgram(ctx, args[0])
	return func(ctx context.Context, opt perf.ProfileOptions) (*perf.Runs, error) {
		return perf.Profile(ctx, prog, sweep.points, opt)
	}, err
}

// blockSizes returns the requested sizes and those of the named machines; none for
// the default.
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
		opt        perf.HistogramOptions
		out        output
		hottest    int
		capacities []uint
		confidence float64
	)
	// ask returns the table that the flags request.
	ask := func(runs *perf.Runs) (dataframe.DataFrame, error) {
		switch {
		case hottest > 0:
			return perf.Hottest(runs, perf.HottestOptions{BlockBytes: opt.BlockBytes, Limit: hottest})
		case len(capacities) > 0:
			estimate := locality.EstimateOptions{HistogramOptions: opt, Confidence: confidence}
			for _, c := range capacities {
				estimate.Capacities = append(estimate.Capacities, uint64(c))
			}
			rows, err := locality.MissEstimates(runs, estimate)
			if err != nil {
				return dataframe.DataFrame{}, err
			}
			return perf.Frame(rows), nil
		}
		return perf.ReuseHistogram(runs, opt)
	}
	cmd := &cobra.Command{
		Use:   "histogram DIR",
		Short: "Print reuse-distance histograms of stored profiles",
		Long: `histogram prints the reuse-distance histogram of the selected references at each
size: a row for each nonempty bin [lo, hi). With --hottest it lists the references
with the most accesses at the last size instead; with --misses it prints the misses
in fully associative caches and, for a sampled profile, confidence intervals.`,
		Example: `  presage histogram sampled --block 64 --misses 512,8192
  presage histogram profiles --block 128 --routine main.solveLine --format csv
  presage histogram profiles --hottest 20`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			runs, err := locality.LoadRuns(args[0])
			if err != nil {
				return err
			}
			df, err := ask(runs)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	cmd.Flags().Uint64Var(&opt.BlockBytes, "block", 0, "memory block size in bytes (default the smallest profiled)")
	cmd.Flags().StringVar(&opt.Routine, "routine", "", "only the references of this routine")
	cmd.Flags().Uint64Var(&opt.PC, "pc", 0, "only the reference at this address, such as 0x98efe")
	cmd.Flags().UintSliceVar(&capacities, "misses", nil, "print misses in fully associative caches of these capacities in blocks instead")
	cmd.Flags().Float64Var(&confidence, "confidence", locality.DefaultConfidence, "confidence level of the intervals of --misses, from 0 to 1")
	cmd.Flags().IntVar(&hottest, "hottest", 0, "list this many references with the most accesses")
	out.register(cmd)
	return cmd
}
