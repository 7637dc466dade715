package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/annotate"
	"presage/perf/store"
)

func annotateCommand() *cobra.Command {
	var (
		at     sweepFlag
		run    runFlags
		opt    annotate.Options
		name   string
		format string
		path   string
	)
	formats := map[string]func(*annotate.Annotation, io.Writer) error{
		"text": (*annotate.Annotation).WriteText, "html": (*annotate.Annotation).WriteHTML, "pprof": (*annotate.Annotation).WritePprof,
	}
	cmd := &cobra.Command{
		Use:   "annotate PROGRAM --machine NAME --at name=value",
		Short: "Print a program's source with executions and misses beside each line",
		Long: `annotate runs PROGRAM, an executable or the folder of a Go main package, simulates
the machine on every access, counts executions, and prints the files of the source
that cost most: beside each line how often it was executed, its misses at each level,
its share of what all misses take if none overlaps another, and which loop carries the
reuses that miss; then the tree of routines and loops with what is inside them.

With --format html it writes a fragment of a page, with the tree drawn, scopes as wide
as their cost; with --format pprof a profile for go tool pprof, whose stacks are lines, inlined calls,
loops and routines, and the calls that led there: misses of memcpy are below those who
called it. That takes one more run.

Files of the source are looked for below --source by the longest end of their recorded
paths; no other files are read.`,
		Example: `  presage annotate ./kernel --machine zen4 --at n=200 --source src
  presage annotate ./kernel --machine zen4 --at n=200 --format html -o kernel.html
  presage annotate ./kernel --machine zen4 --at n=200 --format pprof -o kernel.pb.gz
  go tool pprof -top -cum -sample_index="L1 misses" kernel.pb.gz
  go tool pprof -tree -sample_index="L1 misses" kernel.pb.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write := formats[format]
			switch {
			case write == nil:
				return fmt.Errorf("--format %q: want text, html or pprof", format)
			case len(at.points) > 1:
				return errors.New("--at: one size is annotated at a time")
			case format == "pprof" && path == "":
				return errors.New("--format pprof writes binary data: name a file with -o")
			}
			m, err := perf.FindMachine(name)
			if err != nil {
				return err
			}
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			point := perf.Point{}
			if len(at.points) == 1 {
				point = at.points[0]
			}
			opt.CallPaths = format == "pprof"
			a, err := annotate.Simulate(cmd.Context(), prog, m, point, opt)
			if err != nil {
				return err
			}
			if path == "" {
				return write(a, cmd.OutOrStdout())
			}
			var text bytes.Buffer
			if err := write(a, &text); err != nil {
				return err
			}
			return store.WriteFile(path, text.Bytes())
		},
	}
	f := cmd.Flags()
	f.Var(&at, "at", "problem size: name=value; repeat for further parameters. Without, --args are taken as they are")
	f.StringVar(&name, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar(&format, "format", "text", "text, html or pprof")
	f.StringVarP(&path, "output", "o", "", "file to write to (default standard output)")
	f.StringArrayVar(&opt.Sources, "source", nil, "folder to look for files of the source in; repeat for more (default the current one)")
	_ = cmd.MarkFlagRequired("machine")
	run.register(cmd)
	return cmd
}
