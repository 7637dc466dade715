package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/store"
	"presage/perf/study/judging"
	"presage/perf/study/record"
)

// judgeFlags are the flags of presage judge beside those of the study itself.
type judgeFlags struct {
	half, table, dir, record, headlines, from, beside string
	again                                             bool
	together                                          []string
	programs, machines                                []string
	run                                               runFlags
	on                                                campaignFlags
	out                                               output
}

func judgeCommand() *cobra.Command {
	var (
		flags judgeFlags
		opt   judging.Options
	)
	cmd := &cobra.Command{
		Use:   "judge {SUITE.yaml --machine NAME | --from PREFIX}",
		Short: "Hold predictions against exact simulation on a suite of programs",
		Long: `judge compiles each program of a suite for linux/riscv64, or with --native for this
computer, profiles it at its training sizes, predicts misses at the sizes to be
judged, simulates these exactly, and, where the suite says so, does the same with
the cycles of the core. It prints
how far off predictions are, for caches of 4 ways and more, other caches, TLBs and
cycles, beside a baseline: what was simulated at the largest training size, times
the cube of the ratio of sizes. Rows with fewer than 1000 simulated misses do not
count. Of intervals it prints the share that holds the truth, half the median width,
and by what factor they would have to be wider or narrower for those of a further
program to hold 90%.

With --record it writes all rows to PREFIX-misses.csv, PREFIX-cycles.csv and
PREFIX-failed.csv, and this command, the date and checksums to recordings.csv beside
them. Results are kept in the store: an interrupted run goes on where it stopped.
--from reads the rows of such files in place of judging anew.

A suite has an open half, which may be looked at while predictions are improved, and
a closed one, which has to be asked for. Fresh programs are written after predictions
were improved, second ones after those had been looked at, and third ones after these.`,
		Example: `  presage judge datasets/suite/suite.yaml --machine origin2000,itanium2,zen4
  presage judge datasets/suite/suite.yaml --machine zen4 --program lufact,spmv --table misses --format csv
  presage judge datasets/suite/suite.yaml --half all --machine origin2000,itanium2,zen4 --record datasets/validation/suite-all
  presage judge --from datasets/validation/suite-open --table levels`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.from != "" {
				return flags.reportRecorded(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, &opt)
			}
			if len(args) == 0 || len(flags.machines) == 0 {
				return errors.New("nothing to judge: name a suite and, with --machine, machines, or recorded rows with --from")
			}
			if err := flags.read(args[0], &opt); err != nil {
				return err
			}
			of, err := flags.headlineOptions(&opt, commandLine(cmd, args))
			if err != nil {
				return err
			}
			if opt.Campaign, err = flags.on.runner(cmd, args); err != nil {
				return err
			}
			found, err := opt.Run(cmd.Context())
			if err != nil {
				return err
			}
			return flags.report(cmd.OutOrStdout(), cmd.ErrOrStderr(), found, of)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.half, "half", string(judging.Open), "programs to judge: open, closed, fresh, second, third or all")
	f.StringSliceVar(&flags.programs, "program", nil, "judge these programs of the half only")
	f.StringSliceVar(&flags.machines, "machine", nil, "machines: names (see presage machines) or .yaml files")
	f.BoolVar(&opt.Native, "native", false, "build the programs by the compilers of this computer, with shared libraries, and run them natively (x86-64 Linux); cycles are not judged")
	f.Uint64Var(&opt.PageBytes, "pages", 0, "simulate caches beyond the first as indexed by physical addresses, with pages of this many bytes placed at random; 0: by the program's addresses")
	registerTrainedOnly(f, &opt.TrainedSizesOnly)
	f.StringVar(&flags.table, "table", "summary", "what to print: summary, levels (the summary by level), misses or cycles (all rows)")
	f.StringVar(&flags.record, "record", "", "name prefix of the files to write the rows to")
	f.StringVar(&flags.from, "from", "", "name prefix of files that --record wrote, to read in place of judging; --half, --native and --pages say what they are of")
	f.StringVar(&flags.headlines, "headlines", "", "file of headlines to update, such as datasets/headlines.csv")
	f.StringVar(&flags.beside, "beside", "", "name prefix of recorded rows to stand beside headlines: of the open half beside the closed one's, of the closed half beside those of programs written afterwards")
	f.BoolVar(&flags.again, "again", false, "headlines are of programs judged before, by the models of now: those of the first judgement stand")
	f.StringSliceVar(&flags.together, "together", nil, "name prefixes of recorded rows of other programs that intervals are not calibrated on, for a headline on the intervals of all of them")
	f.StringVar(&flags.dir, "store", "", "folder that keeps executables, profiles and simulations (default the user's)")
	f.BoolVarP(&flags.run.quiet, "quiet", "q", false, "no progress on standard error")
	flags.on.register(cmd)
	flags.out.register(cmd)
	return cmd
}

// judgeTables are what presage judge can print.
var judgeTables = map[string]func(*judging.Findings) dataframe.DataFrame{
	"summary": func(f *judging.Findings) dataframe.DataFrame { return perf.Frame(f.Summary()) },
	"levels":  func(f *judging.Findings) dataframe.DataFrame { return perf.Frame(f.ByLevel()) },
	"misses":  func(f *judging.Findings) dataframe.DataFrame { return perf.Frame(f.Misses) },
	"cycles":  func(f *judging.Findings) dataframe.DataFrame { return perf.Frame(f.Cycles) },
}

// check returns an error if the flags say nothing that can be printed.
func (f *judgeFlags) check() error {
	if judgeTables[f.table] == nil {
		return fmt.Errorf("--table %q: want summary, levels, misses or cycles", f.table)
	}
	return f.out.check()
}

// read sets the options from the flags and the file of the suite.
func (f *judgeFlags) read(path string, opt *judging.Options) error {
	if err := f.check(); err != nil {
		return err
	}
	suite, err := judging.ReadSuite(path)
	if err != nil {
		return err
	}
	if opt.Programs, err = suite.Of(judging.Half(f.half)); err != nil {
		return err
	}
	if len(f.programs) > 0 {
		half := judging.Suite{Dir: suite.Dir, Programs: opt.Programs}
		if opt.Programs, err = half.Named(f.programs...); err != nil {
			return err
		}
	}
	opt.Dir = suite.Dir
	for _, name := range f.machines {
		m, err := perf.FindMachine(name)
		if err != nil {
			return err
		}
		opt.Machines = append(opt.Machines, m)
	}
	run, err := f.run.options()
	if err != nil {
		return err
	}
	opt.Progress = run.Progress
	if f.dir != "" {
		opt.Store = store.Open(f.dir)
	}
	return nil
}

// reportRecorded reports on findings that were recorded.
func (f *judgeFlags) reportRecorded(stdout, stderr io.Writer, args []string, opt *judging.Options) error {
	if len(args) > 0 || len(f.machines) > 0 || len(f.programs) > 0 || f.record != "" {
		return errors.New("--from reads recorded rows: give no suite, --machine, --program or --record")
	}
	if err := f.check(); err != nil {
		return err
	}
	found, err := judging.Load(f.from)
	if err != nil {
		return err
	}
	if half := judging.Half(f.half); half != judging.All && f.headlines != "" {
		if err := allOf(found, half); err != nil {
			return fmt.Errorf("--from %s: %w: see --half", f.from, err)
		}
	}
	from, err := record.ReadText(f.from + judging.MissesFile)
	if err != nil {
		return err
	}
	of, err := f.headlineOptions(opt, from.Command)
	if err != nil {
		return err
	}
	return f.report(stdout, stderr, found, of)
}

// headlineOptions says what the findings are of, and reads those that stand beside them.
func (f *judgeFlags) headlineOptions(opt *judging.Options, command string) (judging.HeadlineOptions, error) {
	of := judging.HeadlineOptions{Half: judging.Half(f.half), Native: opt.Native, PageBytes: opt.PageBytes, Again: f.again, Command: command}
	if err := f.readTogether(&of); err != nil || f.beside == "" {
		return of, err
	}
	want := of.Half.Beside()
	if want == "" || f.headlines == "" {
		return of, errors.New("--beside is for headlines of the closed half and of programs written afterwards: give --half closed, fresh, second or third, and --headlines")
	}
	var err error
	if of.Beside, err = loadMisses("--beside", f.beside); err != nil {
		return of, err
	}
	for i := range of.Beside.Misses {
		if r := &of.Beside.Misses[i]; judging.Half(r.Half) != want {
			return of, fmt.Errorf("--beside %s: %s is of the %s half: beside headlines of --half %s stand those of the %s half", f.beside, r.Program, r.Half, of.Half, want)
		}
	}
	return of, nil
}

// readTogether reads findings of other programs that intervals are not calibrated on.
func (f *judgeFlags) readTogether(of *judging.HeadlineOptions) error {
	if len(f.together) > 0 && (of.Half.Beside() == "" || f.headlines == "") {
		return errors.New("--together is for headlines of programs that intervals are not calibrated on: give --half closed, fresh, second or third, and --headlines")
	}
	seen := make(map[judging.Half]string)
	for _, prefix := range f.together {
		found, err := loadMisses("--together", prefix)
		if err != nil {
			return err
		}
		half := judging.Half(found.Misses[0].Half)
		if half.Beside() == "" || half == of.Half {
			return fmt.Errorf("--together %s: %s is of the %s half: want programs of other halves than --half %s that intervals are not calibrated on", prefix, found.Misses[0].Program, half, of.Half)
		}
		if err := allOf(found, half); err != nil {
			return fmt.Errorf("--together %s: %w", prefix, err)
		}
		if seen[half] != "" {
			return fmt.Errorf("--together: %s and %s are both of the %s half", seen[half], prefix, half)
		}
		seen[half] = prefix
		of.Together = append(of.Together, found)
	}
	return nil
}

// allOf returns an error unless all misses are of programs of a half.
func allOf(found *judging.Findings, half judging.Half) error {
	for i := range found.Misses {
		if r := &found.Misses[i]; judging.Half(r.Half) != half {
			return fmt.Errorf("%s is of the %s half, not of %s", r.Program, r.Half, half)
		}
	}
	return nil
}

// loadMisses reads recorded findings that have misses.
func loadMisses(flag, prefix string) (*judging.Findings, error) {
	found, err := judging.Load(prefix)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, prefix, err)
	}
	if len(found.Misses) == 0 {
		return nil, fmt.Errorf("%s %s: no misses are recorded there", flag, prefix)
	}
	return found, nil
}

// report records and prints the findings. It returns an error if a program failed.
func (f *judgeFlags) report(stdout, stderr io.Writer, found *judging.Findings, of judging.HeadlineOptions) error {
	if f.record != "" {
		if err := found.Record(f.record, of.Command); err != nil {
			return err
		}
	}
	if f.headlines != "" {
		if err := record.UpdateHeadlines(f.headlines, found.Headlines(of)...); err != nil {
			return err
		}
	}
	if df := judgeTables[f.table](found); df.Nrow() > 0 {
		if err := f.out.print(stdout, df); err != nil {
			return err
		}
	}
	if len(found.Failed) == 0 {
		return nil
	}
	for _, failed := range found.Failed {
		fmt.Fprintf(stderr, "not judged: %s of %s: %s\n", failed.What, failed.Program, strings.TrimSpace(failed.Error))
	}
	return errors.New("some programs were not judged")
}
