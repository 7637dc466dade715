package main

import (
	"strings"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/study/walltime"
)

func walltimeCommand() *cobra.Command {
	var (
		opt             walltime.Options
		machine, prefix string
		kept, measured  string
		quiet           bool
		out             output
	)
	cmd := &cobra.Command{
		Use:   "walltime DIR --machine FILE",
		Short: "Hold predicted wall times of native programs against measured ones",
		Long: `walltime compiles the programs of its study, in C, C++ and Fortran, whose sources
are in DIR, with this computer's compilers. It profiles each at five small sizes,
predicts its wall time at four larger ones on the machine of FILE, which is to be this
computer as presage calibrate saw it, and measures it there: the least and median of
several runs, in five rounds through all programs, each after one to warm up. What a
power of the size fitted to measured times of the small sizes says is listed beside it.
The programs run with your rights.

Predictions are kept in the store, measurements are not. With --record they are
written to NAME-times.csv and NAME-system.csv, and this command, the host, the date
and checksums to recordings.csv beside them.

With --measured nothing is measured: times are predicted anew and held against those of
a recording, whose machine FILE is then to describe; programs are compiled for the
processor at hand all the same.`,
		Example: `  presage calibrate -o host.yaml
  presage walltime ./datasets/native --machine host.yaml
  presage walltime ./datasets/native --machine host.yaml --prefix "chrt -f 10" --record walltime`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			m, err := perf.FindMachine(machine)
			if err != nil {
				return err
			}
			opt.Machine, opt.Dir, opt.Prefix = m, args[0], strings.Fields(prefix)
			if !quiet {
				opt.Progress = progressLines(cmd.ErrOrStderr())
			}
			if measured != "" {
				if opt.Measured, err = walltime.Load(measured); err != nil {
					return err
				}
			}
			found, err := opt.Run(cmd.Context())
			if err != nil {
				return err
			}
			if kept != "" {
				if err := found.Record(kept, commandLine(cmd, args)); err != nil {
					return err
				}
			}
			if err := out.print(cmd.OutOrStdout(), perf.Frame(found.Rows)); err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), perf.Frame(found.Summaries()))
		},
	}
	f := cmd.Flags()
	f.StringVar(&machine, "machine", "", "machine: a .yaml file of presage calibrate")
	f.StringVar(&prefix, "prefix", "", `command that starts the measured programs, such as "chrt -f 10"`)
	f.IntVar(&opt.Repeats, "repeats", walltime.DefaultRepeats, "number of measurements of each time")
	f.StringVar(&measured, "measured", "", "name prefix of recorded files: predict anew, and take what was measured from them")
	f.StringVar(&kept, "record", "", "name prefix of the files to write")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("machine")
	out.register(cmd)
	return cmd
}
