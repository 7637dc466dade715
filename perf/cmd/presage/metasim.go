package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"presage/perf"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/study/sampling"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"
)

// phaseFlags are the flags of commands that cut a run into intervals.
type phaseFlags struct {
	run      runFlags
	at       sweepFlag
	interval uint64
	dir      string
	pick     simpoint.Options
}

func (p *phaseFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&p.at, "at", "problem size, name=value; repeat for further parameters (default none: --args says all)")
	f.Uint64Var(&p.interval, "interval", 0, "instructions of an interval (default 1000000)")
	f.IntVar(&p.pick.K, "k", 0, "number of clusters; 0: as many as their score asks for")
	f.IntVar(&p.pick.MaxK, "max-k", 0, "largest number of clusters to try (default 30)")
	f.Uint64Var(&p.pick.Seed, "seed", 0, "seed of the projection and of the clustering")
	f.StringVar(&p.dir, "store", "", "folder that keeps vectors and simulations (default the user's)")
	p.run.register(cmd)
}

// point returns the problem size.
func (p *phaseFlags) point() (perf.Point, error) {
	switch len(p.at.points) {
	case 0:
		return perf.Point{}, nil
	case 1:
		return p.at.points[0], nil
	}
	return nil, errors.New("--at: want one problem size")
}

func (p *phaseFlags) options() (perf.PhaseOptions, error) {
	opt, err := p.run.options()
	if p.dir != "" {
		opt.Store = store.Open(p.dir)
	}
	return perf.PhaseOptions{RunOptions: opt, Interval: p.interval}, err
}

func (p *phaseFlags) phases(cmd *cobra.Command, path string) (*perf.Phases, error) {
	point, err := p.point()
	if err != nil {
		return nil, err
	}
	opt, err := p.options()
	if err != nil {
		return nil, err
	}
	prog, err := openProgram(path)
	if err != nil {
		return nil, err
	}
	return perf.BlockVectors(cmd.Context(), prog, point, opt)
}

// phaseTables are what simpoint can print.
var phaseTables = []string{"points", "timeline", "scores"}

func simpointCommand() *cobra.Command {
	var (
		flags  phaseFlags
		out    output
		prefix string
		table  string
	)
	cmd := &cobra.Command{
		Use:   "simpoint PROGRAM|FILE.bb",
		Short: "Choose a few intervals that stand for a whole run",
		Long: `simpoint runs PROGRAM once, cuts the run into intervals by executed instructions,
puts those together that execute the same mix of basic blocks, and chooses one of
each cluster, with its weight. In place of a program it takes basic-block vectors
in the .bb format of SimPoint 3.2 and of valgrind's exp-bbv.

With -o it writes PREFIX.bb, PREFIX.simpoints, PREFIX.weights and PREFIX.labels.`,
		Example: `  presage simpoint ./datasets/programs/sweep3d --args "-n 30 -quiet"
  presage simpoint ./datasets/programs/cg --at n=40 --interval 200000 --k 8 -o cg
  presage simpoint bb.out.1234 --table timeline --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !slices.Contains(phaseTables, table) {
				return fmt.Errorf("--table %q: want points, timeline or scores", table)
			}
			phases, err := flags.vectors(cmd, args[0])
			if err != nil {
				return err
			}
			points, err := phases.Points(cmd.Context(), flags.pick)
			if err != nil {
				return err
			}
			if prefix != "" {
				if err := points.WriteFiles(prefix); err != nil {
					return err
				}
			}
			warnings := phases.Warnings
			for _, w := range points.Result.Warnings {
				warnings = append(warnings, w.Error())
			}
			warn(cmd.ErrOrStderr(), warnings)
			df := points.Frame()
			switch table {
			case "timeline":
				df = points.Timeline()
			case "scores":
				df = points.Scores()
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	cmd.Flags().StringVarP(&prefix, "output", "o", "", "beginning of the names of the files to write")
	cmd.Flags().StringVar(&table, "table", "points", "what to print: points, timeline (the cluster of each interval) or scores (of numbers of clusters)")
	flags.register(cmd)
	out.register(cmd)
	return cmd
}

// vectors runs a program, or reads a .bb file.
func (p *phaseFlags) vectors(cmd *cobra.Command, path string) (*perf.Phases, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && !isELF(path) {
		run := &p.run
		if p.interval != 0 || len(p.at.points) > 0 || run.opt.Args != "" || run.stdin != "" || len(run.dirs)+len(run.opt.Env) > 0 || run.opt.MaxInstructions != 0 {
			return nil, fmt.Errorf("%s holds vectors: --interval, --at, --args, --stdin, --dir, --env and --max-instructions are those of the run that made them", path)
		}
		return phase.ReadPhases(path)
	}
	return p.phases(cmd, path)
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	magic := make([]byte, 4)
	n, _ := f.Read(magic)
	return string(magic[:n]) == "\x7fELF"
}

func metasimCommand() *cobra.Command {
	var (
		flags          phaseFlags
		out            output
		machine, files string
		percents       []float64
		periods        int
		warmup         string
		warmLength     uint64
		full           bool
		record         string
	)
	cmd := &cobra.Command{
		Use:   "metasim PROGRAM --machine NAME",
		Short: "Simulate caches on a small part of a run, and compare with the whole",
		Long: `metasim chooses intervals of a run as simpoint does, simulates the machine's caches
on these alone, and prints hit ratios of the program, weighted by how often its
basic blocks are executed in the whole run. Beside it, if asked for, stand periodic
samples (--percent) and the simulation of the whole run (--full).

--points PREFIX takes the points from PREFIX.simpoints and PREFIX.weights, which
simpoint -o or SimPoint 3.2 wrote for the same intervals.

--record PREFIX does more: numbers of points, lengths of intervals, warm-ups,
times. It writes PREFIX-hits.csv, PREFIX-blocks.csv, PREFIX-runs.csv and
PREFIX-clusters.csv, and beside them, in recordings.csv, this command, the date and
checksums. Whatever was simulated is kept in the store: a study that was interrupted
goes on where it was.`,
		Example: `  presage metasim ./datasets/programs/cg --at n=40 --machine datasets/metasim/power3.yaml --percent 10,1 --full
  presage metasim ./datasets/programs/cg --at n=40 --machine zen4 --points cg --interval 200000
  presage metasim ./datasets/programs/is --args "-class A -quiet" --machine datasets/metasim/power3.yaml --record datasets/metasim/is.A`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			m, err := perf.FindMachine(machine)
			if err != nil {
				return err
			}
			if record != "" {
				if err := flags.plain(); err != nil {
					return err
				}
				prog, err := openProgram(args[0])
				if err != nil {
					return err
				}
				return recordMetaSim(cmd, args, &flags, &out, prog, sampling.Study{Machine: m}, record)
			}
			guided := perf.Sampling{SimPoint: flags.pick, WarmLength: warmLength}
			if guided.Warmup, err = warmupNamed(warmup); err != nil {
				return err
			}
			if files != "" {
				if flags.pick != (simpoint.Options{}) {
					return errors.New("--points: the points are chosen already: leave out --k, --max-k and --seed")
				}
				if guided.Points, err = phase.ReadPoints(files); err != nil {
					return err
				}
			}
			samplings := []perf.Sampling{guided}
			for _, x := range percents {
				if !(x > 0 && x <= 100) {
					return fmt.Errorf("--percent %g: want above 0 and at most 100", x)
				}
				samplings = append(samplings, perf.Sampling{Percent: x, Periods: periods, Warmup: guided.Warmup, WarmLength: warmLength})
			}
			if full {
				samplings = append(samplings, perf.Sampling{Full: true})
			}
			phases, err := flags.phases(cmd, args[0])
			if err != nil {
				return err
			}
			samples, err := perf.SampleCaches(cmd.Context(), phases, m, samplings)
			if err != nil {
				return err
			}
			warnings := phases.Warnings
			for _, c := range samples {
				warnings = append(warnings, c.Warnings...)
			}
			warn(cmd.ErrOrStderr(), warnings)
			df, err := perf.HitRates(samples...)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.StringVar(&machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar(&files, "points", "", "take the points from PREFIX.simpoints and PREFIX.weights")
	f.Float64SliceVar(&percents, "percent", nil, "also simulate so many percent of the run, in regular periods, such as 10,1")
	f.IntVar(&periods, "periods", 0, fmt.Sprintf("number of these periods (default %d)", metasim.DefaultPeriods))
	f.StringVar(&warmup, "warmup", "fixed", "what caches hold where a stretch begins: fixed (what a number of instructions before it leave), none, kept (what the stretch before left) or kept-fixed")
	f.Uint64Var(&warmLength, "warmup-length", 0, fmt.Sprintf("instructions to warm up with (default %d)", metasim.DefaultWarmLength))
	f.BoolVar(&full, "full", false, "also simulate the whole run")
	f.StringVar(&record, "record", "", "make the whole study, and write its tables to files with names that begin so")
	_ = cmd.MarkFlagRequired("machine")
	flags.register(cmd)
	out.register(cmd)
	return cmd
}

// plain refuses choices that the study makes itself.
func (p *phaseFlags) plain() error {
	if p.interval != 0 || p.pick != (simpoint.Options{}) {
		return errors.New("--record varies intervals and numbers of points itself: leave out --interval, --k, --max-k and --seed")
	}
	return nil
}

func warmupNamed(name string) (metasim.Warmup, error) {
	names := map[string]metasim.Warmup{"fixed": metasim.WarmFixed, "none": metasim.WarmNone, "kept": metasim.WarmKept, "kept-fixed": metasim.WarmKeptFixed}
	w, ok := names[name]
	if !ok {
		return w, fmt.Errorf("--warmup %q: want fixed, none, kept or kept-fixed", name)
	}
	return w, nil
}

// recordMetaSim makes the study and writes its tables.
func recordMetaSim(cmd *cobra.Command, args []string, flags *phaseFlags, out *output, prog *perf.Program, s sampling.Study, prefix string) error {
	point, err := flags.point()
	if err != nil {
		return err
	}
	opt, err := flags.options()
	if err != nil {
		return err
	}
	s.RunOptions = opt.RunOptions
	if !flags.run.quiet {
		s.Progress = nil // steps tell more
		s.Step = func(what string) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", prog.Name, what) }
	}
	found, err := sampling.Investigate(cmd.Context(), prog, point, s)
	if err != nil {
		return err
	}
	origin := fmt.Sprintf("simulated by presage, times measured; %s, SHA-256 %s", prog.Name, prog.File.SHA256)
	for _, t := range []struct {
		name string
		df   dataframe.DataFrame
	}{{"hits", found.Hits}, {"blocks", found.Blocks}, {"runs", found.Runs}, {"clusters", found.Clusters}} {
		if err := perf.Record(prefix+"-"+t.name+".csv", t.df, perf.Source{Origin: origin, Command: commandLine(cmd, args)}); err != nil {
			return err
		}
	}
	return out.print(cmd.OutOrStdout(), found.Hits)
}
