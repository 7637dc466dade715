package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/progress"
	"presage/perf/simpoint"
	"presage/perf/study/sampling"
)

// metasimFlags are the flags of metasim.
type metasimFlags struct {
	phaseFlags
	out            output
	machine, files string
	percents       []float64
	periods        int
	warmup         string
	warmLength     uint64
	onlyHistory    bool
	untimed        bool
	ranks          int
	full           bool
	record         string
}

func metasimCommand() *cobra.Command {
	var m metasimFlags
	cmd := &cobra.Command{
		Use:   "metasim PROGRAM --machine NAME",
		Short: "Simulate caches on a small part of a run, and compare with the whole",
		Long: `metasim chooses intervals of a run as simpoint does, simulates the machine's caches
on these alone, and prints hit ratios of the program, weighted by how often its
basic blocks are executed in the whole run. On request it adds periodic samples
(--percent) and the simulation of the whole run (--full) for comparison.

--points PREFIX takes the points from PREFIX.simpoints and PREFIX.weights, as
written by simpoint -o or SimPoint 3.2 for the same intervals.

--record PREFIX runs the whole study, which varies the number of points, the
interval length and the warm-up, and measures times. It writes PREFIX-hits.csv,
PREFIX-blocks.csv, PREFIX-runs.csv, PREFIX-clusters.csv and PREFIX-history.csv, and
this command, the date and checksums to recordings.csv beside them. Simulations are kept in the
store: an interrupted study resumes where it stopped. --history makes
the last of these files anew, points simulated after a history that warms caches of
megabytes up, and judges it by the study that was recorded.

After a history (--warmup history), misses within its second half count by access, too:
for the points of the clusters that its intervals are in, at caches below the first and
at TLBs. First accesses of the run are known there by the pages that it touches, where
the engine and its host tell (RISC-V programs on Linux), and are misses once.

--ranks P takes the ranks of a parallel run one by one, each a run of the program with
its number in place of {rank} in --args, and prints what each does to memory, and all
together: by points of its own, by those of rank 0 for all of them, as the paper does
it, and by the full simulation. With --record it writes PREFIX-ranks.csv and, of basic
blocks, PREFIX-rankblocks.csv.`,
		Example: `  presage metasim ./datasets/programs/cg --at n=40 --machine datasets/metasim/power3.yaml --percent 10,1 --full
  presage metasim ./datasets/programs/cg --at n=40 --machine zen4 --points cg --interval 200000
  presage metasim ./datasets/programs/npbcg --args "-class A -ranks 4 -rank {rank} -quiet" --ranks 4 --machine datasets/metasim/power3.yaml
  presage metasim ./datasets/programs/is --args "-class A -quiet" --machine datasets/metasim/power3.yaml --record datasets/metasim/is.A`,
		Args: cobra.ExactArgs(1),
		RunE: m.simulate,
	}
	f := cmd.Flags()
	f.StringVar(&m.machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar(&m.files, "points", "", "take the points from PREFIX.simpoints and PREFIX.weights")
	f.Float64SliceVar(&m.percents, "percent", nil, "also simulate these percentages of the run, in regular periods, such as 10,1")
	f.IntVar(&m.periods, "periods", 0, fmt.Sprintf("number of these periods (default %d)", metasim.DefaultPeriods))
	f.StringVar(&m.warmup, "warmup", "fixed", "contents of caches at the start of a stretch: fixed (left by a number of instructions before it), none, kept (left by the previous stretch), kept-fixed, or history (of the instructions before it, long enough for megabytes; what misses only because caches were empty before these is no miss)")
	f.Uint64Var(&m.warmLength, "warmup-length", 0, fmt.Sprintf("instructions to warm up with (default %d; with history, %g%% of the run, or what of it has %g accesses an instruction of the run, divided among the stretches)", metasim.DefaultWarmLength, 100*phase.HistoryShare, phase.HistoryAccesses))
	f.BoolVar(&m.full, "full", false, "also simulate the whole run")
	f.StringVar(&m.record, "record", "", "run the whole study, and write its tables to files with this name prefix")
	f.BoolVar(&m.onlyHistory, "history", false, "with --record: write PREFIX-history.csv alone, by the study recorded under the prefix")
	f.BoolVar(&m.untimed, "untimed", false, "with --history: time nothing, and leave the paper's 8 points out; with --ranks: time nothing")
	f.IntVar(&m.ranks, "ranks", 0, "number of ranks of a parallel run, whose arguments have {rank}; each is a run of its own")
	_ = cmd.MarkFlagRequired("machine")
	m.register(cmd)
	m.out.register(cmd)
	return cmd
}

// simulate simulates samples, or runs the whole study.
func (m *metasimFlags) simulate(cmd *cobra.Command, args []string) error {
	if err := m.out.check(); err != nil {
		return err
	}
	found, err := perf.FindMachine(m.machine)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("ranks") {
		return m.parallel(cmd, args, found)
	}
	if m.record != "" {
		return m.study(cmd, args, found)
	}
	if m.onlyHistory {
		return errors.New("--history: name the study to judge by with --record")
	}
	samplings, err := m.samplings()
	if err != nil {
		return err
	}
	phases, err := m.phases(cmd, args[0])
	if err != nil {
		return err
	}
	samples, err := perf.SampleCaches(cmd.Context(), phases, found, samplings)
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
	return m.out.print(cmd.OutOrStdout(), df)
}

// samplings returns the requested samplings: points, periodic samples, the whole
// run.
func (m *metasimFlags) samplings() ([]perf.Sampling, error) {
	guided := perf.Sampling{SimPoint: m.pick, WarmLength: m.warmLength}
	var err error
	if guided.Warmup, err = warmupNamed(m.warmup); err != nil {
		return nil, err
	}
	if m.files != "" {
		if m.pick != (simpoint.Options{}) {
			return nil, errors.New("--points: the points are chosen already: leave out --k, --max-k, --seed and --as")
		}
		if guided.Points, err = phase.ReadPoints(m.files); err != nil {
			return nil, err
		}
	}
	all := []perf.Sampling{guided}
	for _, x := range m.percents {
		if !(x > 0 && x <= 100) {
			return nil, fmt.Errorf("--percent %g: want above 0 and at most 100", x)
		}
		all = append(all, perf.Sampling{Percent: x, Periods: m.periods, Warmup: guided.Warmup, WarmLength: m.warmLength})
	}
	if m.full {
		all = append(all, perf.Sampling{Full: true})
	}
	return all, nil
}

func warmupNamed(name string) (metasim.Warmup, error) {
	names := map[string]metasim.Warmup{"fixed": metasim.WarmFixed, "none": metasim.WarmNone, "kept": metasim.WarmKept, "kept-fixed": metasim.WarmKeptFixed, "history": metasim.WarmHistory}
	w, ok := names[name]
	if !ok {
		return w, fmt.Errorf("--warmup %q: want fixed, none, kept, kept-fixed or history", name)
	}
	return w, nil
}

// opened returns the program, where it is run, and how.
func (m *metasimFlags) opened(cmd *cobra.Command, args []string) (*perf.Program, perf.Point, perf.PhaseOptions, error) {
	var opt perf.PhaseOptions
	prog, err := openProgram(cmd.Context(), args[0])
	if err != nil {
		return nil, nil, opt, err
	}
	point, err := m.point()
	if err != nil {
		return nil, nil, opt, err
	}
	opt, err = m.options(cmd, args...)
	return prog, point, opt, err
}

// study runs the whole study and records it.
func (m *metasimFlags) study(cmd *cobra.Command, args []string, on *machine.Machine) error {
	if m.interval != 0 || m.pick != (simpoint.Options{}) {
		return errors.New("--record varies intervals and numbers of points itself: leave out --interval, --k, --max-k, --seed and --as")
	}
	prog, point, opt, err := m.opened(cmd, args)
	if err != nil {
		return err
	}
	if opt.Progress != nil {
		opt.Progress = func(p progress.Report) {
			if !p.Finished() {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", prog.Name, p.Task)
			}
		}
	}
	study := sampling.Options{RunOptions: opt.RunOptions, Machine: on}
	if m.untimed {
		if !m.onlyHistory {
			return errors.New("--untimed: only with --history")
		}
		study.Repeats = -1
	}
	if m.onlyHistory {
		rows, err := m.history(cmd, args, prog, point, study)
		if err != nil {
			return err
		}
		return m.out.print(cmd.OutOrStdout(), frame.Of(rows))
	}
	found, err := study.Run(cmd.Context(), prog, point)
	if err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), found.Warnings)
	if err := found.Record(m.record, commandLine(cmd, args)); err != nil {
		return err
	}
	if _, err := m.history(cmd, args, prog, point, study); err != nil {
		return err
	}
	return m.out.print(cmd.OutOrStdout(), frame.Of(found.Hits))
}

// history simulates points with a history before each, and records and returns it.
func (m *metasimFlags) history(cmd *cobra.Command, args []string, prog *perf.Program, point perf.Point, opt sampling.Options) ([]sampling.HistoryRow, error) {
	study, err := sampling.Load(m.record)
	if err != nil {
		return nil, fmt.Errorf("--history judges by a study that was recorded: %w", err)
	}
	full, err := study.FullMisses()
	if err != nil {
		return nil, err
	}
	rows, err := opt.History(cmd.Context(), prog, point, full)
	if err != nil {
		return nil, err
	}
	return rows, sampling.RecordHistory(m.record, rows, prog, commandLine(cmd, args))
}

// parallel simulates the ranks of a parallel run, and records them if that is wanted.
func (m *metasimFlags) parallel(cmd *cobra.Command, args []string, on *machine.Machine) error {
	if m.interval != 0 || m.pick != (simpoint.Options{}) || m.files != "" || m.onlyHistory || m.full || len(m.percents) > 0 {
		return errors.New("--ranks compares points by score with the full simulation: leave out --interval, --k, --max-k, --seed, --as, --points, --percent, --full and --history")
	}
	for _, name := range []string{"warmup", "warmup-length", "periods"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--ranks simulates points after a history: leave out --%s", name)
		}
	}
	prog, point, opt, err := m.opened(cmd, args)
	if err != nil {
		return err
	}
	study := sampling.Options{RunOptions: opt.RunOptions, Machine: on}
	if m.untimed {
		study.Repeats = -1
	}
	found, err := study.RunRanks(cmd.Context(), prog, point, m.ranks)
	if err != nil {
		return err
	}
	warn(cmd.ErrOrStderr(), found.Warnings)
	if m.record != "" {
		if err := found.Record(m.record, commandLine(cmd, args)); err != nil {
			return err
		}
	}
	return m.out.print(cmd.OutOrStdout(), frame.Of(found.Rows))
}
