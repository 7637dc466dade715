package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"presage/perf"
	"presage/perf/calibration"
	"presage/perf/figure"
	"presage/perf/host"
	"presage/perf/measure"
	"presage/perf/store"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Size of the figures, in inches.
const calibrationWidth, calibrationHeight = 9, 5.5

func calibrateCommand() *cobra.Command {
	var (
		opt               calibration.CalibrateOptions
		out               output
		file, plot, table string
		mib               uint64
		quiet             bool
	)
	cmd := &cobra.Command{
		Use:   "calibrate [-o FILE.yaml]",
		Short: "Measure this machine, and describe it",
		Long: `calibrate measures the machine that it runs on: load latency against the size of
the working set, and with it the capacities and latencies of the caches; what
prefetching leaves of the latency of memory where lines are read in order; the
reach of the TLBs and what a miss costs; bandwidths; how many misses can be in
flight; what basic operations and wrongly predicted branches cost, and which ends
of loops are foreseen; the clock.

It takes some 30 s of a processor, and some 7 s with --quick. Whatever else runs
disturbs it: the least of many repeats is taken, and the spread is shown.

With -o it writes a machine description that other commands take (--machine
FILE.yaml); every number in it says which measurement, or the system, it is from.
With --figure it draws load latency against the working set, and beside it, in
NAME-tlb.png, against the number of pages.`,
		Example: `  presage calibrate -o host.yaml --figure host.png
  presage calibrate --quick --table levels
  presage predict profiles --machine host.yaml --at n=60`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if file != "" && filepath.Ext(file) != ".yaml" {
				return fmt.Errorf("--output %s: a machine description has to end in .yaml", file)
			}
			if plot != "" && filepath.Ext(plot) != ".png" {
				return fmt.Errorf("--figure %s: want a name that ends in .png", plot)
			}
			if !slices.Contains(calibration.CalibrationTables, table) {
				return fmt.Errorf("--table %s: want one of %s", table, strings.Join(calibration.CalibrationTables, ", "))
			}
			opt.MaxBytes = mib << 20
			if !quiet {
				opt.Progress = calibrationProgress(cmd.ErrOrStderr(), term.IsTerminal(int(os.Stderr.Fd())))
			}
			c, err := perf.Calibrate(cmd.Context(), opt)
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), c.Profile.Warnings)
			if file != "" {
				if err := c.Save(file); err != nil {
					return err
				}
			}
			if plot != "" {
				if err := drawCalibration(c, plot); err != nil {
					return err
				}
			}
			df, err := c.Table(table)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "output", "o", "", "file for the machine description, ending in .yaml")
	f.StringVar(&plot, "figure", "", "file for the figure of load latency, ending in .png")
	f.StringVar(&table, "table", "summary", "table to print: "+strings.Join(calibration.CalibrationTables, ", "))
	f.BoolVar(&opt.Quick, "quick", false, "fewer working sets and repeats")
	f.Uint64Var(&mib, "max-mib", 0, "largest working set in MiB (default eight times the last cache, at least 128, at most 512)")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	out.register(cmd)
	return cmd
}

func drawCalibration(c *perf.Calibration, path string) error {
	for _, d := range []struct {
		path string
		draw func() (*figure.Figure, error)
	}{
		{path, c.LatencyFigure},
		{strings.TrimSuffix(path, ".png") + "-tlb.png", c.TranslationFigure},
	} {
		fig, err := d.draw()
		if err != nil {
			return err
		}
		png, err := fig.PNG(calibrationWidth, calibrationHeight)
		if err != nil {
			return err
		}
		if err := store.WriteFile(d.path, png); err != nil {
			return err
		}
	}
	return nil
}

// calibrationProgress shows which part is measured.
func calibrationProgress(w io.Writer, terminal bool) func(host.Progress) {
	if !terminal {
		return func(p host.Progress) {
			if p.Done < p.Total {
				fmt.Fprintf(w, "part %d of %d: %s\n", p.Done+1, p.Total, p.Part)
			}
		}
	}
	var bar *progressbar.ProgressBar
	return func(p host.Progress) {
		if bar == nil {
			bar = progressbar.NewOptions(p.Total, progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
		}
		bar.Describe(p.Part)
		_ = bar.Set(p.Done)
	}
}

func measureCommand() *cobra.Command {
	var (
		sweep         sweepFlag
		opt           perf.MeasureOptions
		out           output
		stdin, record string
		quiet         bool
	)
	cmd := &cobra.Command{
		Use:   "measure PROGRAM",
		Short: "Run a program natively and print the time that a real clock shows",
		Long: `measure builds the Go program in the folder PROGRAM for this machine, or takes an
executable, and runs it at each point of the sweep: first to warm up, then several
times. It prints a row for each point: median, least and spread of the wall time,
processor time, and, where Linux offers them, hardware counters. Measurements are
not reproducible: they carry the host and the date, and are kept in no store. With
--record they are written to a file, and beside it, in recordings.csv, this
command, the host, the date and a checksum. Without --sweep the program runs with
--args as they are.`,
		Example: `  presage measure ./datasets/programs/cg --sweep n=20,40,60
  presage measure ./sweep3d --sweep n=50:100:10 --args "-n {n} -iterations 2" --repeats 9 --record times.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			points := sweep.points
			if len(points) == 0 {
				points = []perf.Point{{}}
			}
			if stdin != "" {
				data, err := os.ReadFile(stdin)
				if err != nil {
					return fmt.Errorf("--stdin: %w", err)
				}
				opt.Stdin = string(data)
			}
			if !quiet {
				opt.Progress = progressLines(cmd.ErrOrStderr())
			}
			df, err := perf.Measure(cmd.Context(), args[0], points, opt)
			if err != nil {
				return err
			}
			if record != "" {
				if err := measure.RecordMeasurement(record, df, args[0], commandLine(cmd, args)); err != nil {
					return err
				}
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.StringVar(&opt.Args, "args", "", `arguments of the program, {name} standing for a parameter (default "-name {name}" for each)`)
	f.StringArrayVar(&opt.Env, "env", nil, "NAME=value, added to the environment of this command; repeat for more")
	f.StringVar(&stdin, "stdin", "", "file that the program reads as its standard input (default empty)")
	f.IntVar(&opt.Repeats, "repeats", measure.DefaultRepeats, "how often each point is measured")
	f.IntVar(&opt.WarmUp, "warm-up", 1, "how often each point is run before; -1: never")
	f.StringVar(&record, "record", "", "file to write the rows to")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	out.register(cmd)
	return cmd
}
