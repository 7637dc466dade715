package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/sharing"
	"presage/perf/store"
	"presage/perf/subject"
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

--sharing prints the misses that threads cause each other, by object, the scope that
misses and the one that wrote the block before, and how many are of false sharing.

An object is a variable, or "alloc FILE:LINE", memory that the line of the source
asked for: of the callers of malloc, operator new, mmap and the like, the innermost
outside the system's headers. --objects then has how often, and how many bytes. Where
the engine does not tell of allocations, which is so of riscv64 programs, an object is
heap@FILE:LINE or mappings@FILE:LINE, with the line that first accessed the memory.`,
		Example: `  presage profile ./sweep3d --sweep n=20,26,32,38,44 --machine zen4 --carriers -o profiles
  presage explain profiles --machine zen4 --at n=100
  presage explain ./sweep3d --machine zen4 --at n=44 --by routine
  presage explain ./sweep3d --machine zen4 --at n=44 --objects --format csv
  presage explain ./datasets/programs/planted --machine zen4 --at n=200 --sharing`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			df, err := e.of(cmd, args[0])
			if err != nil {
				return err
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
	registerListing(cmd, &e.listing, "a level's misses")
	registerMethod(f, &e.method)
	registerReplay(f, &e.replay)
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
	run      runFlags
	coverage float64
	method   predict.Method
	replay   bool
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
	case e.objects || e.sharing:
		return none, errors.New("--objects and --sharing take a simulation, and PROFILES have none: give the PROGRAM")
	case len(e.at.points) == 0:
		return none, errors.New("no sizes: give them with --at, such as --at n=60,80")
	case e.run.changed():
		return none, errors.New("PROFILES have their own arguments: --args, --env, --stdin, --dir and --max-instructions go with a PROGRAM")
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
	opt := patterns.PredictOptions{By: e.by, Listing: e.listing, Method: e.method, Coverage: e.coverage}
	if !e.replay {
		opt.Corrector = misses.NoCorrection{}
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
	opt := patterns.SimulateOptions{By: e.by, Listing: e.listing}
	if opt.RunOptions, err = e.run.options(); err != nil {
		return none, err
	}
	points := e.at.points
	if len(points) == 0 {
		points = []perf.Point{{}}
	}
	switch {
	case e.objects && e.sharing:
		return none, errors.New("--objects or --sharing: one table at a time")
	case e.sharing:
		rows, err := sharing.Simulate(ctx, prog, points, sharing.Options{RunOptions: opt.RunOptions, By: e.by, Listing: e.listing})
		return perf.Frame(rows), err
	case e.objects:
		rows, err := patterns.SimulateObjects(ctx, prog, m, points, opt)
		return perf.Frame(rows), err
	}
	rows, err := patterns.Simulate(ctx, prog, m, points, opt)
	return perf.Frame(rows), err
}
