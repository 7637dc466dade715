package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"presage/perf"
	"presage/perf/figure"
	"presage/perf/frame"
	"presage/perf/host/calibration"
	"presage/perf/progress"
	"presage/perf/store"
)

// Size of the figures, in inches.
const calibrationWidth, calibrationHeight = 9, 5.5

// calibrationTables are the tables that calibrate can print.
var calibrationTables = []string{"summary", "levels", "latency", "tlb", "bandwidth", "parallelism", "window", "loops", "patterns"}

// calibrationTable returns one of calibrationTables.
func calibrationTable(c *calibration.Calibration, name string) dataframe.DataFrame {
	switch name {
	case "summary":
		return frame.Of(c.Summary())
	case "levels":
		return frame.Of(c.Levels())
	case "latency":
		return frame.Of(c.Latencies())
	case "tlb":
		return frame.Of(c.Translations())
	case "bandwidth":
		return frame.Of(c.Bandwidths())
	case "parallelism":
		return frame.Of(c.Parallelism())
	case "window":
		return frame.Of(c.Windows())
	case "patterns":
		return frame.Of(c.Patterns())
	}
	return frame.Of(c.Loops())
}

// checkCalibration returns an error if flags of calibrate are impossible.
func checkCalibration(file, plot, table string, passes int) error {
	switch {
	case file != "" && filepath.Ext(file) != ".yaml":
		return fmt.Errorf("--output %s: a machine description has to end in .yaml", file)
	case plot != "" && filepath.Ext(plot) != ".png":
		return fmt.Errorf("--figure %s: want a name that ends in .png", plot)
	case !slices.Contains(calibrationTables, table):
		return fmt.Errorf("--table %s: want one of %s", table, strings.Join(calibrationTables, ", "))
	case passes < 1:
		return fmt.Errorf("--passes %d: want at least 1", passes)
	}
	return nil
}

func calibrateCommand() *cobra.Command {
	var (
		opt               calibration.Options
		out               output
		file, plot, table string
		mib               uint64
		quiet             bool
	)
	cmd := &cobra.Command{
		Use:   "calibrate [-o FILE.yaml]",
		Short: "Measure this machine, and describe it",
		Long: `calibrate measures the machine that it runs on: load latency against the size of
the working set, and from it the capacities and latencies of the caches; the
memory latency left after prefetching when lines are read in order; the reach of
the TLBs and the cost of a miss; bandwidths; the number of misses that can be in
flight; the costs of basic operations and mispredicted branches, which loop exits
are predicted and how long a pattern of branches is learned; and the clock frequency.

It takes about 30 s of processor time, or 7 s with --quick. Other load on the
machine disturbs it: the minimum of many repeats is taken, and the spread shown. On a
virtual machine, whose neighbours use more of a shared cache at one time than at
another, --passes 10 sees more of it (two minutes).

With -o it writes a machine description for other commands (--machine FILE.yaml),
in which every number names its source: a measurement or the operating system.
With --figure it draws load latency against the working set, and beside it, in
NAME-tlb.png, against the number of pages.`,
		Example: `  presage calibrate -o host.yaml --figure host.png
  presage calibrate --quick --table levels
  presage calibrate --passes 10 -o host.yaml
  presage predict profiles --machine host.yaml --at n=60`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if err := checkCalibration(file, plot, table, opt.Passes); err != nil {
				return err
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
			return out.print(cmd.OutOrStdout(), calibrationTable(c, table))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "output", "o", "", "file for the machine description, ending in .yaml")
	f.StringVar(&plot, "figure", "", "file for the figure of load latency, ending in .png")
	f.StringVar(&table, "table", "summary", "table to print: "+strings.Join(calibrationTables, ", "))
	f.BoolVar(&opt.Quick, "quick", false, "fewer working sets and repeats")
	f.IntVar(&opt.Passes, "passes", 2, "how often most is measured, 12 s each, of which the least disturbed counts: more where others use the machine, too")
	f.Uint64Var(&mib, "max-mib", 0, "largest working set in MiB (default eight times the last cache, at least 128, at most 512)")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	out.register(cmd)
	return cmd
}

func drawCalibration(c *calibration.Calibration, path string) error {
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

// calibrationProgress returns a callback that shows which part is being measured.
func calibrationProgress(w io.Writer, terminal bool) progress.Func {
	if !terminal {
		return func(p progress.Report) {
			if !p.Finished() {
				fmt.Fprintf(w, "part %d of %d: %s\n", p.Done+1, p.Total, p.Task)
			}
		}
	}
	var bar *progressbar.ProgressBar
	return func(p progress.Report) {
		if bar == nil {
			bar = progressbar.NewOptions(p.Total, progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
		}
		bar.Describe(p.Task)
		_ = bar.Set(p.Done)
	}
}
