package main

import (
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/host/measure"
	"presage/perf/study/record"
)

func measureCommand() *cobra.Command {
	var (
		sweep sweepFlag
		opt   measure.Options
		out   output
		kept  string
		quiet bool
	)
	cmd := &cobra.Command{
		Use:   "measure PROGRAM",
		Short: "Run a program natively and measure its wall time",
		Long: `measure builds the Go program in the folder PROGRAM for this machine, or takes an
executable, and runs it at each point of the sweep: first to warm up, then several
times. It prints a row for each point: median, minimum and spread of the wall time,
processor time, and, where Linux offers them, hardware counters. Measurements are
not reproducible: they carry the host and the date, and are not kept in the store.
With --record they are written to a file, and this command, the host, the date and
a checksum to recordings.csv beside it. Without --sweep the program runs with
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
			if !quiet {
				opt.Progress = progressLines(cmd.ErrOrStderr())
			}
			df, err := perf.Measure(cmd.Context(), args[0], points, opt)
			if err != nil {
				return err
			}
			if kept != "" {
				origin, err := measure.Origin(args[0])
				if err != nil {
					return err
				}
				if err := perf.Record(kept, df, record.Source{Origin: origin, Command: commandLine(cmd, args)}); err != nil {
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
	f.StringVar(&opt.StdinFile, "stdin", "", "file that the program reads as its standard input, {name} standing for a parameter (default empty)")
	f.IntVar(&opt.Repeats, "repeats", measure.DefaultRepeats, "number of measurements of each point")
	f.IntVar(&opt.WarmUp, "warm-up", 1, "number of warm-up runs of each point; -1: none")
	f.StringVar(&kept, "record", "", "file to write the rows to")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	out.register(cmd)
	return cmd
}
