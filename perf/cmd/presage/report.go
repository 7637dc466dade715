package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/report"
	"presage/perf/store"
)

func reportCommand() *cobra.Command {
	var (
		sweep, at, judge sweepFlag
		run              runFlags
		opt              report.Options
		names            []string
		out, dir         string
		replay           replayFlags
		simulate         bool
	)
	cmd := &cobra.Command{
		Use:   "report PROGRAM --sweep name=values --machine NAME -o FILE.html",
		Short: "Profile, fit, predict and validate in one call, and write one page about it",
		Long: `report profiles PROGRAM at the sizes of --sweep, fits a model, predicts its misses on
the machines at the sizes of --at, simulates the sizes of --judge exactly, and writes one
page: predictions with their intervals, figures, predictions beside simulations, the
routines with most misses, what is doubtful and why, the runs, and the command that makes
it again. The page needs no other file and no network.

Where one parameter varies, --at is twice and four times the largest size, and --judge
one and a half times.`,
		Example: `  presage report ./a.out --sweep n=100,140,180,220,260 --args "{n}" --machine zen4 -o report.html
  presage report ./datasets/programs/sweep3d --sweep n=12:28:4 --machine origin2000,itanium2 --at n=60,80 --judge n=40 -o report.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("--output: want the name of a file")
			}
			if len(sweep.points) == 0 {
				return errors.New("no sizes: give them with --sweep, such as --sweep n=20,26,32,38,44")
			}
			for _, name := range names {
				m, err := perf.FindMachine(name)
				if err != nil {
					return err
				}
				opt.Machines = append(opt.Machines, m)
			}
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			if dir != "" {
				opt.Store = store.Open(dir)
			}
			opt.Train, opt.Predict, opt.Judge, opt.Distances = sweep.points, at.points, judge.points, !replay.on
			opt.TrainedSizesOnly = replay.trainedOnly
			if !simulate {
				opt.Judge = []perf.Point{}
			}
			opt.Commands = []string{commandLine(cmd, args)}
			r, err := perf.Study(cmd.Context(), prog, opt)
			if err != nil {
				return err
			}
			page, err := r.HTML()
			if err != nil {
				return err
			}
			if err := store.WriteFile(out, page); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, %d doubts\n", out, len(page), len(r.Doubts))
			return err
		},
	}
	f := cmd.Flags()
	f.Var(&sweep, "sweep", "problem sizes to profile: name=value,… or name=first:last:step; repeat for further parameters")
	f.Var(&at, "at", "problem sizes to predict, the same way")
	f.Var(&judge, "judge", "problem sizes to simulate, the same way")
	f.BoolVar(&simulate, "simulate", true, "hold predictions against exact simulation; --simulate=false: simulate nothing")
	f.StringSliceVar(&names, "machine", nil, "machines: names (see presage machines) or .yaml files")
	f.StringVar(&opt.Fit.Basis, "basis", "", `basis functions of the models, such as "1, n, n^2, n^3, n*log(n)"`)
	f.StringVarP(&out, "output", "o", "", "file to write the page to")
	f.StringVar(&dir, "store", "", "folder that keeps profiles and simulations (default the user's)")
	replay.register(f)
	_ = cmd.MarkFlagRequired("machine")
	_ = cmd.MarkFlagRequired("output")
	run.register(cmd)
	return cmd
}
