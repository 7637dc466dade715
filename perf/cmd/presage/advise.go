package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/advice"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/patterns"
	"presage/perf/store"
	"presage/perf/study/mending"
	"presage/perf/timing"
)

func adviseCommand() *cobra.Command {
	var a advising
	cmd := &cobra.Command{
		Use:   "advise {PROFILES | PROGRAM | --kernels FILE -o FILE} --machine NAME --at name=values",
		Short: "Say what change would save misses, and how many",
		Long: `advise prints, for each level of a machine, the changes that would make reuses short
that now miss: to interchange, fuse or tile loops, to keep the steps of a loop inside
blocks of data, to split records, to pad arrays that collide, to use huge pages, to
initialise memory in the loop that first uses it, or to pad or privatise what threads
use of an object that shares lines between them; each with the misses and the cycles
that it would save. Changes of less than a
twentieth of a level's misses are left out; "nothing to gain" is an answer.

Gains assume that the change is possible (dependences are not looked at) and that it
makes nothing else long. They do not add up: several may be about the same misses.

Threads that share lines are simulated on a core each, of caches with LRU replacement:
the misses of such a row are those of all threads, prefetchers are left out, and its
gain is from that of threads which take turns, as in the run, to that of threads which
run at once. Loops of libraries are not changed, nor fused with others.

Where the machine's file lists prefetchers, they are simulated, too: a change is worth the
demand misses that they leave (pred_gain_demand_misses) and the cycles by which they are
late, and misses that they cover save no cycles. --prefetch=false is for a machine without.

With PROFILES, a folder of presage profile --carriers, misses are predicted at sizes
that were never run; what is known of simulations alone (records, collisions, pages)
is then not advised. With PROGRAM, the program is run and the machine simulated.

--kernels holds advice against what comes of it: the kernels of a C file such as
datasets/advice/kernels.c are compiled as they are and with -DMENDED, and both are
simulated. The table goes to the file -o, with its origin beside it.`,
		Example: `  presage advise ./sweep3d --machine zen4 --at n=44
  presage profile ./sweep3d --sweep n=20,26,32,38,44 --machine zen4 --carriers -o profiles
  presage advise profiles --machine zen4 --at n=100
  presage advise --kernels datasets/advice/kernels.c --machine zen4 -o datasets/advice/gains.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.out.check(); err != nil {
				return err
			}
			m, err := perf.FindMachine(a.machine)
			if err != nil {
				return err
			}
			if a.kernels != "" {
				return a.judge(cmd, args, m)
			}
			if len(args) == 0 || a.path != "" {
				return errors.New("no program or profiles: name them; -o goes with --kernels")
			}
			rows, err := a.of(cmd, args[0], m)
			if err != nil {
				return err
			}
			return a.out.print(cmd.OutOrStdout(), perf.Frame(rows))
		},
	}
	a.register(cmd)
	return cmd
}

// advising holds the flags of advise.
type advising struct {
	at      sweepFlag
	run     runFlags
	machine string
	kernels string
	path    string // of the table of kernels
	replay  replayFlags
	ahead   bool
	out     output
}

func (a *advising) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&a.at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters. A PROGRAM may go without, with --args as they are")
	f.StringVar(&a.machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar(&a.kernels, "kernels", "", "C file of kernels to hold advice against")
	f.StringVarP(&a.path, "output", "o", "", "file for the table of --kernels")
	f.BoolVar(&a.ahead, "prefetch", true, "simulate the prefetchers of the machine's file, if it lists some, and value changes by what they leave")
	a.replay.register(f)
	_ = cmd.MarkFlagRequired("machine")
	a.run.register(cmd)
	a.out.register(cmd)
}

// judge compares advice on the kernels with what the changes gain, and records the table.
func (a *advising) judge(cmd *cobra.Command, args []string, m *machine.Machine) error {
	if len(args) > 0 || len(a.at.points) > 0 || a.path == "" {
		return errors.New("--kernels names programs and sizes itself: give it -o FILE, and no PROGRAM, PROFILES or --at")
	}
	f, err := mending.Options{Source: a.kernels, Machine: m, Models: true}.Run(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.Record(a.path, commandLine(cmd, args)); err != nil {
		return err
	}
	return a.out.print(cmd.OutOrStdout(), perf.Frame(f.Rows))
}

// of returns advice on the profiles or the program at a path.
func (a *advising) of(cmd *cobra.Command, path string, m *machine.Machine) ([]advice.Row, error) {
	if _, err := os.Stat(filepath.Join(path, locality.SavedName)); err != nil {
		return a.simulated(cmd.Context(), path, m)
	}
	return a.predicted(cmd, path, m)
}

// prefetching reports whether the machine has prefetchers that are to be simulated.
func (a *advising) prefetching(m *machine.Machine) bool {
	return a.ahead && len(m.Prefetchers) > 0
}

// predicted returns advice on what profiles predict.
func (a *advising) predicted(cmd *cobra.Command, dir string, m *machine.Machine) ([]advice.Row, error) {
	switch {
	case len(a.at.points) == 0:
		return nil, errors.New("no sizes: give them with --at, such as --at n=60,80")
	case a.run.changed():
		return nil, errors.New("PROFILES have their own arguments: --args, --env, --stdin, --dir, --max-instructions, --threads, --engine and --cpu go with a PROGRAM")
	}
	runs, err := locality.LoadRuns(dir)
	if err != nil {
		return nil, err
	}
	st := store.Open(dir)
	model, err := perf.FitScaling(cmd.Context(), runs, perf.FitOptions{Store: st})
	if err != nil {
		return nil, err
	}
	if n := len(model.Warnings); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d warnings about the models; presage predict --warnings shows them\n", n)
	}
	opt := patterns.PredictOptions{Prefetching: a.prefetching(m), Timing: timing.Clock(m, st), Store: st}
	if opt.Corrector, err = correctorFor(cmd.Context(), model, m, a.replay); err != nil {
		return nil, err
	}
	rows, err := patterns.Predict(cmd.Context(), model, m, a.at.points, opt)
	if err != nil {
		return nil, err
	}
	return advice.Predicted(m, rows)
}

// correctorFor returns what corrects predictions.
func correctorFor(ctx context.Context, model *perf.Model, m *machine.Machine, replay replayFlags) (misses.Corrector, error) {
	if !replay.on {
		return misses.NoCorrection{}, nil
	}
	return replayed.Correctors(nil, replayed.Options{TrainedSizesOnly: replay.trainedOnly})(ctx, model, m)
}

// simulated returns advice on a program that is run.
func (a *advising) simulated(ctx context.Context, path string, m *machine.Machine) ([]advice.Row, error) {
	prog, err := openProgram(ctx, path)
	if err != nil {
		return nil, err
	}
	opt, err := a.run.options()
	if err != nil {
		return nil, err
	}
	points := a.at.points
	if len(points) == 0 {
		points = []perf.Point{{}}
	}
	return advice.Simulate(ctx, prog, m, points, patterns.SimulateOptions{
		RunOptions: opt, Prefetching: a.prefetching(m), Timing: timing.Clock(m, opt.Store),
	})
}
