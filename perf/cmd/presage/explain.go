package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/callpath"
	"presage/perf/figure"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/sharing"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
)

func explainCommand() *cobra.Command {
	var (
		e   explanation
		out output
	)
	cmd := &cobra.Command{
		Use:   "explain {PROFILES | PROGRAM} --machine NAME --at name=values",
		Short: "Say which reuses miss: by source, carrying loop and object",
		Long: `explain prints the misses of a program by reuse pattern: the scope that accesses a
memory block, the scope that accessed it before, the loop that carries the reuse
(the innermost one whose execution contains both accesses), whether the accesses
are in different iterations of it, and the object that is accessed.

With PROFILES, a folder of presage profile --carriers, patterns are predicted with
models at sizes that were never run. With PROGRAM, an executable or the folder of a Go
main package, it is run, and the machine is simulated exactly, once more with fully
associative caches: conflict misses are those of accesses that hit there, and
sim_used_share is the part of what was fetched that was accessed before it left.
--objects sums simulated misses up by object, with the size of the object, how much of
it was touched, and the object that it collides with most in the sets of a cache.

--calls prints a row for each path of calls instead, made of routines and the loops in
them around the next call, with what it costs by itself and with all that go on from it
(inclusive): the misses of memcpy are below those who called it. They are simulated, or,
with PROFILES, predicted, which repeats the runs of the profiles twice. A routine that
is in a path already is not entered in it again. Where a share or limit leaves paths
out, rows called other sum them up. --figure draws the rows of a level as a flame graph.
For stacks that go tool pprof reads, see presage annotate --format pprof.

--prefetch adds what is left of each pattern's misses on a machine with the prefetchers
that its file lists: see presage simulate.

--sharing prints the misses that threads cause each other, by object, the scope that
misses and the one that wrote the block before, and how many are of false sharing.

--cores prints the misses of each thread on a core of its own whose first caches are
private, and whose last, or those from --shared on, all threads share: misses on blocks
that others took away by writing, those that another core supplies, the misses of the
thread with all caches to itself, and what reuse distances say of each: of the thread by
itself, of all threads together, and those of each by itself composed.

An object is a variable, or "alloc FILE:LINE", memory that the line of the source
asked for: of the callers of malloc, operator new, mmap and the like, the innermost
outside the system's headers. --objects then has how often, and how many bytes. Where
the engine does not tell of allocations, which is so of riscv64 programs, an object is
heap@FILE:LINE or mappings@FILE:LINE, with the line that first accessed the memory.`,
		Example: `  presage profile ./sweep3d --sweep n=20,26,32,38,44 --machine zen4 --carriers -o profiles
  presage explain profiles --machine zen4 --at n=100
  presage explain ./sweep3d --machine zen4 --at n=44 --by routine
  presage explain ./sweep3d --machine zen4 --at n=44 --objects --format csv
  presage explain ./sweep3d --machine zen4 --at n=44 --calls --by routine --min-share 0.01
  presage explain profiles --machine zen4 --at n=100 --calls --figure calls.svg
  presage explain ./datasets/programs/planted --machine zen4 --at n=200 --sharing
  presage explain ./datasets/programs/planted --machine zen4 --at n=200 --cores`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if err := e.check(); err != nil {
				return err
			}
			df, err := e.of(cmd, args[0])
			if err != nil {
				return err
			}
			if e.draw != "" {
				if err := e.drawCalls(df); err != nil {
					return err
				}
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.Var(&e.at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters. A PROGRAM may go without, with --args as they are")
	f.StringVar(&e.machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar((*string)(&e.by), "by", "loop", "what scopes and sources are: loop, routine or program")
	f.BoolVar(&e.objects, "objects", false, "print a row for each object instead; takes a PROGRAM")
	f.BoolVar(&e.sharing, "sharing", false, "print the misses of threads on blocks of 64 bytes that others wrote instead; takes a PROGRAM")
	f.BoolVar(&e.ahead, "prefetch", false, "add what the machine's prefetchers leave of each pattern's misses, cover, or fetch too late")
	f.BoolVar(&e.cores, "cores", false, "print what each thread misses on a core of its own, with the last level of cache shared, instead; takes a PROGRAM")
	f.StringVar(&e.shared, "shared", "", "with --cores: the first level of cache that threads share (default the last)")
	f.BoolVar(&e.calls, "calls", false, "print a row for each path of calls instead")
	f.Float64Var(&e.share, "join-below", 0, "with --calls of PROFILES: the share of a run's accesses below which paths are joined before they are modelled (default 0.001)")
	f.StringVar(&e.draw, "figure", "", "with --calls: file to draw a level's flame graph to, .png, .svg or .pdf")
	f.StringVar(&e.level, "level", "", "the level that --figure draws, such as L2 (default the first)")
	registerListing(cmd, &e.listing, "a level's misses")
	registerMethod(f, &e.method)
	e.replay.register(f)
	f.Float64Var(&e.coverage, "coverage", 0, "coverage probability of the intervals of misses; negative: no intervals (default 0.9)")
	_ = cmd.MarkFlagRequired("machine")
	e.run.register(cmd)
	out.register(cmd)
	return cmd
}

// explanation is what is asked of explain.
type explanation struct {
	at       sweepFlag
	machine  string
	by       subject.Scope
	listing  subject.Listing
	objects  bool
	sharing  bool
	cores    bool
	shared   string
	calls    bool
	ahead    bool
	share    float64
	draw     string
	level    string
	run      runFlags
	coverage float64
	method   predict.Method
	replay   replayFlags
}

// check returns an error for flags that contradict each other.
func (e *explanation) check() error {
	asked := 0
	for _, on := range []bool{e.objects, e.sharing, e.calls, e.cores} {
		if on {
			asked++
		}
	}
	switch {
	case asked > 0 && e.ahead:
		return errors.New("--prefetch is about patterns: leave out --objects, --sharing, --cores and --calls")
	case e.shared != "" && !e.cores:
		return errors.New("--shared goes with --cores")
	case asked > 1:
		return errors.New("--objects, --sharing, --cores or --calls: one table at a time")
	case (e.draw != "" || e.level != "") && !e.calls:
		return errors.New("--figure and --level draw paths of calls: they go with --calls")
	case e.level != "" && e.draw == "":
		return errors.New("--level says what --figure draws: name a file with --figure")
	case e.draw != "" && len(e.at.points) > 1:
		return errors.New("--figure draws one size at a time")
	case e.share != 0 && !e.calls:
		return errors.New("--join-below goes with --calls")
	}
	return drawable(e.draw)
}

// drawCalls draws rows of callpath.Simulate or Predict.
func (e *explanation) drawCalls(df dataframe.DataFrame) error {
	value := "sim_misses_inclusive"
	if !slices.Contains(df.Names(), value) {
		value = "pred_misses_inclusive"
	}
	level := e.level
	if level == "" && df.Nrow() > 0 {
		level = df.Col("level").Records()[0]
	}
	f, err := figure.Flames(df, figure.FlameOptions{Value: value, Only: level})
	if err != nil {
		return err
	}
	const width, height = 13, 5 // inches
	return drawFigure(f, e.draw, width, height)
}

// of explains the program or profiles at a path.
func (e *explanation) of(cmd *cobra.Command, path string) (dataframe.DataFrame, error) {
	var none dataframe.DataFrame
	m, err := perf.FindMachine(e.machine)
	if err != nil {
		return none, err
	}
	if _, err := os.Stat(filepath.Join(path, locality.SavedName)); err != nil {
		return e.simulated(cmd.Context(), path, m)
	}
	switch {
	case e.objects || e.sharing || e.cores:
		return none, errors.New("--objects, --sharing and --cores take a simulation, and PROFILES have none: give the PROGRAM")
	case len(e.at.points) == 0:
		return none, errors.New("no sizes: give them with --at, such as --at n=60,80")
	case e.run.changed():
		return none, errors.New("PROFILES have their own arguments: --args, --env, --stdin, --dir, --max-instructions, --threads, --engine and --cpu go with a PROGRAM")
	}
	runs, err := locality.LoadRuns(path)
	if err != nil {
		return none, err
	}
	model, err := perf.FitScaling(cmd.Context(), runs, perf.FitOptions{Store: store.Open(path)})
	if err != nil {
		return none, err
	}
	warn(cmd.ErrOrStderr(), model.Warnings)
	if e.calls {
		run, err := e.run.options()
		if err != nil {
			return none, err
		}
		opt := callpath.PredictOptions{
			By: e.by, Listing: e.listing, Share: e.share, Method: e.method, Coverage: e.coverage, Store: store.Open(path), Progress: run.Progress,
		}
		if e.method != predict.MethodBinomial {
			if opt.Corrector, err = correctorFor(cmd.Context(), model, m, e.replay); err != nil {
				return none, err
			}
		}
		rows, err := callpath.Predict(cmd.Context(), model, m, e.at.points, opt)
		return perf.Frame(rows), err
	}
	st := store.Open(path)
	opt := patterns.PredictOptions{By: e.by, Listing: e.listing, Method: e.method, Coverage: e.coverage, Prefetching: e.ahead, Timing: timing.Clock(m, st), Store: st}
	if e.method != predict.MethodBinomial {
		if opt.Corrector, err = correctorFor(cmd.Context(), model, m, e.replay); err != nil {
			return none, err
		}
	}
	return perf.Patterns(cmd.Context(), model, m, e.at.points, opt)
}

// simulated explains a program.
func (e *explanation) simulated(ctx context.Context, path string, m *machine.Machine) (dataframe.DataFrame, error) {
	var none dataframe.DataFrame
	prog, err := openProgram(ctx, path)
	if err != nil {
		return none, err
	}
	opt := patterns.SimulateOptions{By: e.by, Listing: e.listing, Prefetching: e.ahead}
	if opt.RunOptions, err = e.run.options(); err != nil {
		return none, err
	}
	opt.Timing = timing.Clock(m, opt.Store)
	points := e.at.points
	if len(points) == 0 {
		points = []perf.Point{{}}
	}
	switch {
	case e.share != 0:
		return none, errors.New("--join-below is about models: it takes PROFILES; --min-share lists fewer rows of a PROGRAM")
	case e.calls:
		rows, err := callpath.Simulate(ctx, prog, m, points, callpath.SimulateOptions{RunOptions: opt.RunOptions, By: opt.By, Listing: opt.Listing})
		return perf.Frame(rows), err
	case e.sharing:
		rows, err := sharing.Simulate(ctx, prog, points, sharing.Options{RunOptions: opt.RunOptions, By: e.by, Listing: e.listing})
		return perf.Frame(rows), err
	case e.cores:
		rows, err := sharing.SimulateCaches(ctx, prog, m, points, sharing.CacheOptions{RunOptions: opt.RunOptions, Shared: e.shared})
		return perf.Frame(rows), err
	case e.objects:
		rows, err := patterns.SimulateObjects(ctx, prog, m, points, opt)
		return perf.Frame(rows), err
	}
	rows, err := patterns.Simulate(ctx, prog, m, points, opt)
	return perf.Frame(rows), err
}
