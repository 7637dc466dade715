package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	var p prediction
	cmd := &cobra.Command{
		Use:   "predict DIR --machine NAME --at name=values",
		Short: "Predict cache and TLB misses at sizes that were never run",
		Long: `predict fits models to the profiles in DIR and prints the misses they predict
for each cache and TLB of a machine at each size. Misses of loops that are certified
are counted in a replay instead, conflicts included; the column method says which.
Those of the rest are predicted as in fully associative caches, or in sets that sweeps
fill evenly, and beyond the sizes of the profiles, where the runs foretell each other's conflicts, with such conflicts as
they have, in that cache or in one of fewer sets.
Predictions are kept in DIR, size by size, and replays in the store (see presage
store): a curve that is drawn again with a few sizes more takes the time of these.

Loops are learned by running the program at the sizes of the profiles again. Where these
leave in doubt what others may settle, as they do with tiles, a program that takes its
size as an argument is run at up to 16 more sizes for each that is predicted, none larger
than the profiled and together no longer; the rows' warnings say at which. Where memory
grows in the steps of tables that double, it is profiled at halves of the size, too, and
where the largest profile is not foretold well from the others, at sizes between them.
--trained-sizes-only switches all of that off.

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
			if err := p.out.check(); err != nil {
				return err
			}
			df, err := p.of(cmd, args[0])
			if err != nil {
				return err
			}
			return p.out.print(cmd.OutOrStdout(), df)
		},
	}
	p.register(cmd)
	return cmd
}

// prediction holds the flags of predict.
type prediction struct {
	at       sweepFlag
	points   pointsFlag
	machine  string
	fit      perf.FitOptions
	opt      perf.PredictOptions
	replay   replayFlags
	prefetch bool
	rate     float64 // accesses per cycle, with prefetch; 0: the schedule tells time
	warnings bool
	quiet    bool
	out      output
}

func (p *prediction) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&p.at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.Var(&p.points, "point", "a size to predict with the executable compiled for it: name=value:PROGRAM; repeat for each")
	f.StringVar(&p.machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar((*string)(&p.opt.By), "by", "program", "scope of a row: program, routine, loop or reference (a group of them, named by its first)")
	registerListing(cmd, &p.opt.Listing, "a level's misses")
	registerMethod(f, &p.opt.Method)
	p.replay.register(f)
	f.Float64Var(&p.opt.Coverage, "coverage", 0, "coverage probability of the intervals of misses; negative: no intervals (default 0.9)")
	f.StringVar(&p.fit.Basis, "basis", "", `basis functions of the models, such as "1, n, n^2, n^3, n*log(n)" (default powers up to the third)`)
	f.BoolVar(&p.fit.MedianRatio, "median-ratio", false, "split histograms in the same ratio at all sizes, as the papers do")
	f.BoolVar(&p.prefetch, "prefetch", false, "predict what the machine's prefetchers leave and cover")
	f.Float64Var(&p.rate, "accesses-per-cycle", 0, ratedText)
	f.BoolVar(&p.warnings, "warnings", false, "show warnings about the models")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("machine")
	p.out.register(cmd)
}

// of predicts from the profiles in a folder.
func (p *prediction) of(cmd *cobra.Command, dir string) (df dataframe.DataFrame, err error) {
	points := p.points.with(p.at.points)
	if len(points) == 0 {
		return df, errors.New("no sizes: give them with --at, such as --at n=60,80")
	}
	m, err := perf.FindMachine(p.machine)
	if err != nil {
		return df, err
	}
	if p.opt.Binaries, err = p.points.open(cmd.Context()); err != nil {
		return df, err
	}
	model, err := p.model(cmd.Context(), dir)
	if err != nil {
		return df, err
	}
	if err := p.checkPrefetch(cmd); err != nil {
		return df, err
	}
	p.setReplay(cmd.ErrOrStderr())
	df, err = p.misses(cmd.Context(), model, m, points)
	p.opt.Progress.Finish(len(points)) // erases the line, whatever came of it
	if err != nil {
		return df, err
	}
	p.remark(cmd.ErrOrStderr(), model, m)
	return df, nil
}

// model fits a model to the profiles in a folder, where it is kept.
func (p *prediction) model(ctx context.Context, dir string) (*perf.Model, error) {
	runs, err := locality.LoadRuns(dir)
	if err != nil {
		return nil, err
	}
	p.fit.Store = store.Open(dir)
	return perf.FitScaling(ctx, runs, p.fit)
}

// checkPrefetch returns an error for flags that do not go with --prefetch, or without it.
func (p *prediction) checkPrefetch(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case changed("accesses-per-cycle") && !(p.prefetch && p.rate > 0):
		return fmt.Errorf("--accesses-per-cycle %g: want a number above 0, with --prefetch, whose late prefetches it tells", p.rate)
	case p.prefetch && changed("coverage"):
		return errors.New("--coverage is of intervals, and --prefetch predicts none: give one of the two")
	}
	return nil
}

// setReplay sets the options of replays, whose progress goes to w.
func (p *prediction) setReplay(w io.Writer) {
	p.opt.TrainedSizesOnly = p.replay.trainedOnly
	if !p.replay.on {
		p.opt.Corrector = misses.NoCorrection{}
	}
	if !p.quiet {
		p.opt.Progress = replayProgress(w, term.IsTerminal(int(os.Stderr.Fd())))
	}
}

// misses predicts them at the points, with --prefetch those that prefetchers leave.
func (p *prediction) misses(ctx context.Context, model *perf.Model, m *machine.Machine, points []perf.Point) (dataframe.DataFrame, error) {
	if !p.prefetch {
		return perf.PredictMisses(ctx, model, m, points, p.opt)
	}
	rows, err := misses.PredictPrefetching(ctx, model, m, points, misses.PredictPrefetchOptions{
		PredictOptions: p.opt, Timing: timedBy(m, p.fit.Store, p.rate), Store: p.fit.Store,
	})
	return perf.Frame(rows), err
}

// remark writes what a reader of the predictions should know: warnings about the model,
// or their number, and that prefetchers are left out.
func (p *prediction) remark(w io.Writer, model *perf.Model, m *machine.Machine) {
	if p.warnings {
		warn(w, model.Warnings)
	} else if n := len(model.Warnings); n > 0 {
		fmt.Fprintf(w, "%d warnings about the models; --warnings shows them\n", n)
	}
	if len(m.Prefetchers) > 0 && !p.prefetch {
		fmt.Fprintln(w, "misses are those without prefetchers; --prefetch tells what these leave")
	}
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
				from := record.Source{Origin: todo.reference() + " by presage; " + todo.origin(), Command: commandLine(cmd, args)}
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
	cmd.Flags().IntVar(&what.sampling.Intervals, "intervals", 0, "with --time: simulate so many intervals of the run, and estimate its time from them; 0: all of it")
	cmd.Flags().Uint64Var(&what.sampling.Length, "interval-length", timing.DefaultLength, "with --intervals: instructions of each; 0: the default")
	cmd.Flags().Uint64Var(&what.sampling.History, "history", timing.DefaultHistory, "with --intervals: "+historyText)
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

	sampling timing.Sampling // with time; of no Intervals: all of the run
}

// reference is what the results are called.
func (w *whatOfRun) reference() string {
	if w.sampled() != nil {
		return timing.SampledReference
	}
	return "simulated"
}

// sampled returns which intervals of a run are simulated, nil for all of it.
func (w *whatOfRun) sampled() *timing.Sampling {
	if w.sampling.Intervals == 0 {
		return nil
	}
	return &w.sampling
}

// check returns an error for flags that do not go together.
func (w whatOfRun) check(cmd *cobra.Command) error {
	switch rated := cmd.Flags().Changed("accesses-per-cycle"); {
	case w.sampling.Intervals != 0 && !w.time:
		return errors.New("--intervals are those in which the core is simulated: give it with --time")
	case w.sampling.Intervals < 0 || w.sampling.Intervals == 1:
		return fmt.Errorf("--intervals %d: want two or more, or 0 for the whole run", w.sampling.Intervals)
	case w.sampling.Intervals == 0 && (cmd.Flags().Changed("interval-length") || cmd.Flags().Changed("history")):
		return errors.New("--interval-length and --history are of sampled intervals: give them with --intervals")
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
		return perf.SimulateTime(ctx, s.prog, m, s.points, perf.SimulateTimeOptions{RunOptions: opt.RunOptions, By: opt.By, Listing: opt.Listing, Prefetching: s.prefetch, Sampled: s.sampled()})
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

const historyText = "instructions before an interval that caches, TLBs and branch predictors are kept up with; 0: the default"

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
