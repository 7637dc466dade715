package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"presage/perf/timing"
)

func predictCommand() *cobra.Command {
	var (
		at       sweepFlag
		points   pointsFlag
		out      output
		fit      perf.FitOptions
		opt      perf.PredictOptions
		machine  string
		warnings bool
		replay   replayFlags
		quiet    bool
		prefetch bool
		rate     float64
	)
	cmd := &cobra.Command{
		Use:   "predict DIR --machine NAME --at name=values",
		Short: "Predict cache and TLB misses at sizes that were never run",
		Long: `predict fits models to the profiles in DIR and prints the misses they predict
for each cache and TLB of a machine at each size. Misses of loops that are certified
are counted in a replay instead, conflicts included; the column method says which.
Those of the rest are predicted as in fully associative caches, and beyond the sizes of
the profiles, where the runs foretell each other's conflicts, with such conflicts as
they have, in that cache or in one of fewer sets.
Predictions are kept in DIR, size by size, and replays in the store (see presage
store): a curve that is drawn again with a few sizes more takes the time of these.

Loops are learned by running the program at the sizes of the profiles again. Where these
leave in doubt what others may settle, as they do with tiles, a program that takes its
size as an argument is run at up to 16 more sizes for each that is predicted, none larger
than the profiled and together no longer; the rows' warnings say at which.
--trained-sizes-only switches that off.

For a program that is compiled for one size, --point gives the executable of a size
to be predicted. Only the start of it is run; from there on it is replayed. Without
one, a replay has to guess where the program's data lie.

Misses are those of a machine without prefetchers. With --prefetch it predicts what
those that the machine's file describes leave of them, cover, or fetch too late: the
runs of the profiles are simulated with prefetchers, and what these do for each miss
is modelled over the size. Nothing is replayed then. Time is as in presage simulate.`,
		Example: `  presage predict profiles --machine origin2000 --at n=60,80
  presage predict profiles --machine origin2000 --point n=192:lu.192
  presage predict profiles --machine my.yaml --at n=50:200:10 --by routine --basis "1, n, n^2, n^3" --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(at.points)+len(points.points) == 0 {
				return errors.New("no sizes: give them with --at, such as --at n=60,80")
			}
			m, err := perf.FindMachine(machine)
			if err != nil {
				return err
			}
			if opt.Binaries, err = points.open(cmd.Context()); err != nil {
				return err
			}
			runs, err := locality.LoadRuns(args[0])
			if err != nil {
				return err
			}
			fit.Store = store.Open(args[0])
			model, err := perf.FitScaling(cmd.Context(), runs, fit)
			if err != nil {
				return err
			}
			opt.TrainedSizesOnly = replay.trainedOnly
			if !replay.on {
				opt.Corrector = misses.NoCorrection{}
			}
			if !quiet {
				opt.Progress = replayProgress(cmd.ErrOrStderr(), term.IsTerminal(int(os.Stderr.Fd())))
			}
			if rated := cmd.Flags().Changed("accesses-per-cycle"); rated && !(prefetch && rate > 0) {
				return fmt.Errorf("--accesses-per-cycle %g: want a number above 0, with --prefetch, whose late prefetches it tells", rate)
			}
			if prefetch && cmd.Flags().Changed("coverage") {
				return errors.New("--coverage is of intervals, and --prefetch predicts none: give one of the two")
			}
			predicted := func() (dataframe.DataFrame, error) {
				return perf.PredictMisses(cmd.Context(), model, m, points.with(at.points), opt)
			}
			if prefetch {
				predicted = func() (dataframe.DataFrame, error) {
					rows, err := misses.PredictPrefetching(cmd.Context(), model, m, points.with(at.points), misses.PredictPrefetchOptions{
						PredictOptions: opt, Timing: timedBy(m, fit.Store, rate), Store: fit.Store,
					})
					return perf.Frame(rows), err
				}
			}
			df, err := predicted()
			opt.Progress.Finish(len(points.with(at.points))) // erases the line, whatever came of it
			if err != nil {
				return err
			}
			if warnings {
				warn(cmd.ErrOrStderr(), model.Warnings)
			} else if n := len(model.Warnings); n > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d warnings about the models; --warnings shows them\n", n)
			}
			if len(m.Prefetchers) > 0 && !prefetch {
				fmt.Fprintln(cmd.ErrOrStderr(), "misses are those without prefetchers; --prefetch tells what these leave")
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	cmd.Flags().Var(&at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	cmd.Flags().Var(&points, "point", "a size to predict with the executable compiled for it: name=value:PROGRAM; repeat for each")
	cmd.Flags().StringVar(&machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	cmd.Flags().StringVar((*string)(&opt.By), "by", "program", "scope of a row: program, routine, loop or reference (a group of them, named by its first)")
	registerListing(cmd, &opt.Listing, "a level's misses")
	registerMethod(cmd.Flags(), &opt.Method)
	replay.register(cmd.Flags())
	cmd.Flags().Float64Var(&opt.Coverage, "coverage", 0, "coverage probability of the intervals of misses; negative: no intervals (default 0.9)")
	cmd.Flags().StringVar(&fit.Basis, "basis", "", `basis functions of the models, such as "1, n, n^2, n^3, n*log(n)" (default powers up to the third)`)
	cmd.Flags().BoolVar(&fit.MedianRatio, "median-ratio", false, "split histograms in the same ratio at all sizes, as the papers do")
	cmd.Flags().BoolVar(&prefetch, "prefetch", false, "predict what the machine's prefetchers leave and cover")
	cmd.Flags().Float64Var(&rate, "accesses-per-cycle", 0, ratedText)
	cmd.Flags().BoolVar(&warnings, "warnings", false, "show warnings about the models")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("machine")
	out.register(cmd)
	return cmd
}

func simulateCommand() *cobra.Command {
	var (
		sweep  sweepFlag
		points pointsFlag
		run    runFlags
		on     campaignFlags
		out    output
		opt    perf.SimulateOptions
		names  []string
		kept   string
		what   whatOfRun
	)
	cmd := &cobra.Command{
		Use:   "simulate {PROGRAM | --point name=value:PROGRAM …} --machine NAME",
		Short: "Simulate a machine's caches and TLBs exactly on a program's accesses",
		Long: `simulate runs PROGRAM, a static linux/riscv64 executable, the folder of a Go main
package, or an executable of this x86-64 Linux computer, and simulates the machine's memory hierarchy on every access: the
reference for predictions. Without --sweep the program runs once, with --args as
they are. --point simulates executables that were each compiled for one size. With
--time it simulates the machine's core on every instruction instead, in order or
out of order, and prints cycles and their causes.

With --prefetch it simulates the caches twice, without and with the prefetchers that
the machine's file lists under prefetch:, and prints the misses without them, what is
left of these, what prefetches cover, and how many are late or useless. A block that
is asked for before the latency of where it was found has passed is late, and
sim_late_cycles is what was left of that. Time is that of the schedule for the machine's
core: each access takes an equal part of its loop's, and misses and late blocks stop the
core once its window is full of what comes after them. With --accesses-per-cycle, or where
the core is not described, time is the number of accesses, which wait for nothing.
With --time the core is simulated with the prefetchers, and its own cycles tell what is late.

With --record the rows are written
to a file, and this command, the date and a checksum to recordings.csv beside it.`,
		Example: `  presage simulate ./sweep3d --args "-n 60" --machine origin2000
  presage simulate ./sweep3d --sweep n=60,80 --machine origin2000 --by routine --format json
  presage simulate ./sweep3d --args "-n 60" --machine zen4 --prefetch --by routine
  presage simulate --point n=60:./prog.60 --point n=80:./prog.80 --machine origin2000`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			todo, err := whatToSimulate(cmd, args, &sweep, &points, what)
			if err != nil {
				return err
			}
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			if opt.Campaign, err = on.runner(cmd, args); err != nil {
				return err
			}
			df, err := onEach(names, func(m *machine.Machine) (dataframe.DataFrame, error) {
				return todo.on(cmd.Context(), m, opt)
			})
			if err != nil {
				return err
			}
			if kept != "" {
				from := record.Source{Origin: "simulated by presage; " + todo.origin(), Command: commandLine(cmd, args)}
				if err := perf.Record(kept, df, from); err != nil {
					return err
				}
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	cmd.Flags().Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	cmd.Flags().Var(&points, "point", "a problem size with the executable compiled for it: name=value:PROGRAM; repeat for each")
	cmd.Flags().StringSliceVar(&names, "machine", nil, "machines: names (see presage machines) or .yaml files")
	cmd.Flags().StringVar(&kept, "record", "", "file to write the rows to")
	cmd.Flags().StringVar((*string)(&opt.By), "by", "program", "scope of a row: program, routine, loop or reference (a group of them, named by its first)")
	registerListing(cmd, &opt.Listing, "a level's misses or, with --time, of the cycles")
	cmd.Flags().BoolVar(&what.prefetch, "prefetch", false, "simulate the machine's prefetchers, and print what they cover")
	cmd.Flags().Float64Var(&what.rate, "accesses-per-cycle", 0, ratedText)
	cmd.Flags().BoolVar(&what.time, "time", false, "simulate the core, and print times instead of misses")
	cmd.Flags().Uint64Var(&opt.PageBytes, "pages", 0, "index caches beyond the first by physical addresses, with pages of this many bytes placed at random; 0: by the program's addresses")
	cmd.Flags().BoolVar(&opt.FullyAssociative, "fully-associative", false, "also simulate the hierarchy with fully associative caches")
	_ = cmd.MarkFlagRequired("machine")
	run.register(cmd)
	on.register(cmd)
	out.register(cmd)
	return cmd
}

// onEach returns the rows of todo for each machine, in the order of their names.
func onEach(names []string, todo func(*machine.Machine) (dataframe.DataFrame, error)) (all dataframe.DataFrame, err error) {
	for i, name := range names {
		m, err := perf.FindMachine(name)
		if err != nil {
			return all, err
		}
		df, err := todo(m)
		if err != nil {
			return all, err
		}
		if i == 0 {
			all = df
		} else {
			all = all.Concat(df)
		}
	}
	return all, all.Error()
}

// simulation is what is simulated: a program at points, or the executables of each
// point.
type simulation struct {
	prog     *perf.Program
	binaries []subject.BinaryPoint
	points   []perf.Point
	whatOfRun
}

// whatOfRun is what of a run is simulated; the zero value: the caches alone.
type whatOfRun struct {
	time     bool // the core
	prefetch bool // the caches with and without prefetchers
	rate     float64
}

// check returns an error for flags that do not go together.
func (w whatOfRun) check(cmd *cobra.Command) error {
	switch rated := cmd.Flags().Changed("accesses-per-cycle"); {
	case rated && w.time:
		return errors.New("--accesses-per-cycle and --time: the core has a time of its own; give one of the two")
	case rated && !w.prefetch:
		return errors.New("--accesses-per-cycle tells late prefetches: give it with --prefetch")
	case rated && !(w.rate > 0):
		return fmt.Errorf("--accesses-per-cycle %g: want a number above 0", w.rate)
	case w.prefetch && cmd.Flags().Changed("fully-associative"):
		return errors.New("--prefetch and --fully-associative: prefetchers are simulated with the machine's own caches; give one of the two")
	}
	return nil
}

// whatToSimulate returns the simulation that the arguments request.
func whatToSimulate(cmd *cobra.Command, args []string, sweep *sweepFlag, points *pointsFlag, what whatOfRun) (simulation, error) {
	ctx := cmd.Context()
	s := simulation{points: sweep.points, whatOfRun: what}
	err := what.check(cmd)
	if err != nil {
		return s, err
	}
	switch {
	case len(points.points) > 0 && (len(args) > 0 || len(sweep.points) > 0):
		return s, errors.New("--point names its own PROGRAM and size: give no other, and no --sweep")
	case len(points.points) > 0:
		s.binaries, err = points.open(ctx)
		s.points = points.points
	case len(args) == 0:
		return s, errors.New("no program: name one, or give the executables of each size with --point n=20:prog.20")
	default:
		s.prog, err = openProgram(ctx, args[0])
		if len(s.points) == 0 {
			s.points = []perf.Point{{}}
		}
	}
	return s, err
}

// on simulates a machine.
func (s *simulation) on(ctx context.Context, m *machine.Machine, opt perf.SimulateOptions) (dataframe.DataFrame, error) {
	opt.Binaries = s.binaries
	if s.time {
		return perf.SimulateTime(ctx, s.prog, m, s.points, perf.SimulateTimeOptions{RunOptions: opt.RunOptions, By: opt.By, Listing: opt.Listing, Prefetching: s.prefetch})
	}
	if s.prefetch {
		rows, err := misses.SimulatePrefetching(ctx, s.prog, m, s.points, misses.PrefetchOptions{SimulateOptions: opt, Timing: timedBy(m, opt.Store, s.rate)})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		return perf.Frame(rows), nil
	}
	return perf.SimulateMisses(ctx, s.prog, m, s.points, opt)
}

const ratedText = "with --prefetch: time is the number of accesses, of which so many are made in a cycle, not the schedule's"

// timedBy tells time with prefetchers: by the schedule for a machine's core, or by a rate.
func timedBy(m *machine.Machine, st *store.Store, rate float64) misses.Timing {
	if rate > 0 {
		return misses.Timing{AccessesPerCycle: rate}
	}
	return timing.Clock(m, st)
}

// origin names what is simulated, with its digests.
func (s *simulation) origin() string {
	var v misses.Validation
	v.Binaries = s.binaries
	return validated(s.prog, &v)
}
