package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/explore"
	"presage/perf/locality"
	"presage/perf/store"
)

func exploreCommand() *cobra.Command {
	var (
		opt     explore.Options
		names   []string
		port    int
		unused  time.Duration
		serving explore.ServeOptions
	)
	cmd := &cobra.Command{
		Use:   "explore DIR",
		Short: "Change a model by hand in a page, and see what it predicts",
		Long: `explore serves a page about the profiles in DIR, to browsers on this computer
alone, and prints its address: the basis and shape of the model's functions, the sizes
that it is fitted to (others are held out), machine, level, capacity, ways and block
size, program, routine, loop or reference, and the size to predict. Curves, residuals,
histograms, errors, the scope tree, the source and other machines follow. The address
in the browser holds what the controls say; it has a secret, without which nothing is
answered, and that is another one each time. Figures can be saved as SVG, PNG and PDF,
numbers as CSV.

Misses follow from reuse distances alone: unlike predict, explore replays nothing.`,
		Example: `  presage profile ./sweep3d --sweep n=12:28:4 --args "-n {n}" --machine origin2000 -o profiles
  presage explore profiles
  presage explore profiles --machine origin2000,power3 --basis "1, n^2, n^3" --source ~/src --port 8080`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := locality.LoadRuns(args[0])
			if err != nil {
				return err
			}
			for _, name := range names {
				m, err := perf.FindMachine(name)
				if err != nil {
					return err
				}
				opt.Machines = append(opt.Machines, m)
			}
			opt.Fit.Store = store.Open(args[0])
			s, err := explore.New(runs, opt)
			if err != nil {
				return err
			}
			serving.Unused = unused
			return serve(cmd, s, port, serving)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&names, "machine", nil, "machines of the menu: names (see presage machines) or .yaml files (default all whose block sizes were profiled)")
	f.StringVar(&opt.Fit.Basis, "basis", "", `basis functions to begin with, such as "1, n, n^2, n^3, n*log(n)"`)
	f.StringVar(&opt.Fit.Shape, "shape", "", "shape of functions to begin with: monotone, convex, concave or free")
	f.StringVar(&opt.Source, "source", "", "folder in which source files are looked for that are not where they were compiled")
	f.StringVar(&serving.Title, "title", "", "title of the page (default the program's name)")
	f.IntVar(&port, "port", 0, "port to listen on, of 127.0.0.1 (default any that is free)")
	f.DurationVar(&unused, "unused", 0, "end if no page asked for anything for so long, such as 10m; 0: never")
	return cmd
}

// serve serves the page until the command is interrupted.
func serve(cmd *cobra.Command, s *explore.Session, port int, opt explore.ServeOptions) error {
	if port < 0 || port > 65535 {
		return fmt.Errorf("--port %d: want 0 to 65535", port)
	}
	ln, err := explore.Listen(cmd.Context(), port)
	if err != nil {
		return err
	}
	opt.Token = explore.NewToken()
	fmt.Fprintf(cmd.OutOrStdout(), "Open %s\nEnd with Ctrl-C.\n", s.Address(ln, opt.Token, s.Initial()))
	_, err = explore.Serve(cmd.Context(), ln, s, opt)
	if errors.Is(err, explore.ErrUnused) {
		fmt.Fprintln(cmd.ErrOrStderr(), err)
		return nil
	}
	return err
}
