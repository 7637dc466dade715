package main

import (
	"fmt"
	"path/filepath"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/figure"
	"presage/perf/roofline"
	"presage/perf/store"
)

func rooflineCommand() *cobra.Command {
	var (
		at      sweepFlag
		out     output
		opt     roofline.Options
		machine string
		draw    string
	)
	cmd := &cobra.Command{
		Use:   "roofline DIR --machine NAME --at name=values",
		Short: "Put loops under a machine's ceilings, at sizes that were never run",
		Long: `roofline predicts, for the program whose profiles are in DIR, the floating-point
operations of each scope, the bytes that each level of a machine's memory gives for
them, and the time; and holds their ratios against the ceilings of the core and of the
level. A byte counts at the first cache if an instruction accesses it, below if it is in
a block that the level above missed; what is written back is not counted.

Ceilings follow from the machine's file: the core's from its units, a level's from its
bandwidth, which presage calibrate measures. Where the file has none, the first cache
gives a word of 8 bytes a load, another level as many blocks as can be on their way
within its latency.

With --figure the rows are drawn: a panel for each level, points as large as the time
that a scope takes, joined over the sizes. The program is run once more at the sizes of
the profiles, to count how often its edges are executed.`,
		Example: `  presage roofline profiles --machine zen4 --at n=100,200,400 --by loop --limit 5
  presage roofline profiles --machine my.yaml --at n=50:200:50 --figure roofline.png`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if err := drawable(draw); err != nil {
				return err
			}
			on, err := timedOn(cmd.Context(), args[0], machine, &at)
			if err != nil {
				return err
			}
			rows, err := roofline.Predict(cmd.Context(), on.model, on.execution, on.machine, at.points, opt)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no scope has floating-point operations: there is nothing to put under the ceilings")
			}
			df := perf.Frame(rows)
			if draw != "" && len(rows) > 0 {
				if err := drawRoofline(df, draw); err != nil {
					return err
				}
			}
			return out.print(cmd.OutOrStdout(), df)
		},
	}
	f := cmd.Flags()
	f.Var(&at, "at", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.StringVar(&machine, "machine", "", "machine: a name (see presage machines) or a .yaml file")
	f.StringVar((*string)(&opt.By), "by", "program", "scope of a row: program, routine or loop")
	f.StringVar(&draw, "figure", "", "file to draw to, .png, .svg or .pdf")
	registerListing(cmd, &opt.Listing, "the cycles of scopes with floating-point operations")
	registerMethod(f, &opt.Method)
	_ = cmd.MarkFlagRequired("machine")
	out.register(cmd)
	return cmd
}

// drawable returns an error unless the name of a file, if there is one, says how to draw
// to it.
func drawable(file string) error {
	if ext := filepath.Ext(file); file != "" && ext != ".png" && ext != ".svg" && ext != ".pdf" {
		return fmt.Errorf("--figure %s: want a file .png, .svg or .pdf", file)
	}
	return nil
}

// drawRoofline draws rows of roofline.Predict.
func drawRoofline(df dataframe.DataFrame, file string) error {
	const width, height = 13, 5 // inches
	f, err := figure.Roofline(df, figure.RooflineOptions{})
	if err != nil {
		return err
	}
	return drawFigure(f, file, width, height)
}

// drawFigure draws a figure to a file whose name says how, in inches.
func drawFigure(f *figure.Figure, file string, width, height float64) error {
	encode := f.PNG
	switch filepath.Ext(file) {
	case ".svg":
		encode = f.SVG
	case ".pdf":
		encode = f.PDF
	}
	data, err := encode(width, height)
	if err != nil {
		return err
	}
	return store.WriteFile(file, data)
}
