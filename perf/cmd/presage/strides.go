package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf/anatomy"
	"presage/perf/frame"
)

// statusDisagrees is the exit status of check-strides below its minimum.
const statusDisagrees = 1

func checkStridesCommand() *cobra.Command {
	var (
		least float64
		worst int
		run   runFlags
		out   output
	)
	cmd := &cobra.Command{
		Use:   "check-strides [flags] PROGRAM [ARGUMENT]...",
		Short: "Compare the stride formulas of a program's references with a run",
		Long: `check-strides runs PROGRAM, a static linux/riscv64 executable, the folder of a Go
main package, or an executable of this x86-64 Linux computer, with everything after it as its arguments. For each memory
reference in a loop, and for every loop that contains it, it compares the change
of address from one iteration to the next with the stride that static analysis
predicts. Strides flagged irregular or indirect, and the traffic of the stack, are
counted but not compared: analyze --run --table references shows what the former
are in a run.

It prints the shares and the references that disagree most, and exits with
status 1 if less than --min of the comparisons agree.`,
		Example: `  presage check-strides --min 0.99 ./sweep3d -n 20
  presage check-strides --worst 20 --format csv ./a.out`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !(least >= 0 && least <= 1) {
				return fmt.Errorf("--min %g: want a share from 0 to 1", least)
			}
			if worst < 0 {
				return fmt.Errorf("--worst %d: want 0 for none, or how many references", worst)
			}
			if run.opt.Args != "" {
				return errors.New("--args is not for this command: the program's arguments come after its name")
			}
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			opt, err := run.options()
			if err != nil {
				return err
			}
			s, err := anatomy.CheckStrides(cmd.Context(), prog, args[1:], opt)
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), s.Warnings)
			if err := printStrides(cmd, out, s, worst); err != nil {
				return err
			}
			return belowMinimum(s.AgreeShare(), least, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.Float64Var(&least, "min", 0.99, "smallest share of comparisons that must agree, from 0 to 1")
	f.IntVar(&worst, "worst", 5, "list this many of the references that disagree (0: none)")
	run.register(cmd)
	out.register(cmd)
	if err := f.MarkHidden("args"); err != nil {
		panic(err) // run.register has just defined it
	}
	return cmd
}

// belowMinimum returns an exitStatus if the share that agrees is below least.
func belowMinimum(share, least float64, stderr io.Writer) error {
	if share >= least {
		return nil
	}
	fmt.Fprintf(stderr, "presage: %.4f of the comparisons agree, less than --min %g\n", share, least)
	return exitStatus(statusDisagrees)
}

// printStrides prints the shares and the references that disagree most.
func printStrides(cmd *cobra.Command, out output, s *anatomy.Strides, worst int) error {
	type shares struct {
		Program    string  `frame:"program"`
		Agree      float64 `frame:"agree_share"`
		Regular    float64 `frame:"regular_share"`
		Compared   uint64  `frame:"compared"`
		Disagree   uint64  `frame:"disagree"`
		Accesses   uint64  `frame:"accesses"`
		InLoops    uint64  `frame:"accesses_in_loops"`
		Stack      uint64  `frame:"stack_accesses"`
		Unassigned uint64  `frame:"unassigned_accesses"`
	}
	df := frame.Of([]shares{{
		s.Program.Name, s.AgreeShare(), s.CleanShare(), s.Agree + s.Disagree, s.Disagree,
		s.Accesses, s.InLoops, s.StrideCheck.Stack, s.Unaligned,
	}})
	if err := out.print(cmd.OutOrStdout(), df); err != nil {
		return err
	}
	bad := s.Rows()
	n := 0
	for n < worst && n < len(bad) && bad[n].Disagree > 0 {
		n++
	}
	if n == 0 {
		return nil
	}
	return out.print(cmd.ErrOrStderr(), frame.Of(bad[:n]))
}

// head returns the first n rows.
func head(df dataframe.DataFrame, n int) dataframe.DataFrame {
	rows := make([]int, min(n, df.Nrow()))
	for i := range rows {
		rows[i] = i
	}
	return df.Subset(rows)
}
