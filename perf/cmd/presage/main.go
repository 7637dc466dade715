// Command presage profiles a program at a few problem sizes, predicts its cache and
// TLB misses on a machine at sizes that were never run, and simulates them exactly
// to validate the predictions. It is the shell interface of package perf.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(command(interruptible(context.Background(), patience))) }

// command runs the command that the arguments name, and returns the exit status.
func command(ctx context.Context) int {
	err := rootCommand().ExecuteContext(ctx)
	status := exitStatus(0)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled), ctx.Err() != nil: // such as a compiler that was ended
		fmt.Fprintln(os.Stderr, interrupted)
		return interruptStatus(ctx)
	}
	fmt.Fprintln(os.Stderr, "presage:", ofJobs.Replace(err.Error()))
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "presage",
		Short:   "Predict how a program performs on machines and problem sizes it was never run on",
		Version: version(),
		Long: `presage profiles a program at a few small problem sizes, fits models that scale
with the size, and predicts cache and TLB misses and time on a machine described
in a file. A program is a static executable for riscv64 Linux, the folder of a Go
program, or an executable of this computer, if that is x86-64 Linux: it runs WITH
YOUR RIGHTS, see presage run --help.

  presage profile ./a.out --sweep n=48,60,72,84,96,100 --args {n} -o profiles
  presage predict profiles --machine zen4 --at n=200,400
  presage explain profiles --machine zen4 --at n=200
  presage simulate ./a.out --args 200 --machine zen4
  presage validate ./a.out --args {n} --train n=48:100:13 --at n=200 --machine zen4
  presage analyze ./a.out --run --args 60 --table loops`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, g := range commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(manCommand(root))
	return root
}

// A commandGroup is listed under one heading.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

func commandGroups() []commandGroup {
	return []commandGroup{
		{"Run and predict", []*cobra.Command{
			profileCommand(), trainCommand(), predictCommand(), timeCommand(), rooflineCommand(), queryCommand(), simulateCommand(), validateCommand(), reportCommand(), runCommand(),
		}},
		{"Look inside", []*cobra.Command{
			exploreCommand(), explainCommand(), adviseCommand(), analyzeCommand(), histogramCommand(), checkStridesCommand(), kernelCommand(), annotateCommand(),
		}},
		{"Machines and measurements", []*cobra.Command{
			machinesCommand(), calibrateCommand(), measureCommand(), timeKernelsCommand(), simulateKernelsCommand(),
		}},
		{"Parts of a run, searches, other models", []*cobra.Command{
			simpointCommand(), metasimCommand(), searchCommand(), spmvCommand(), inferCommand(),
		}},
		{"Studies and records", []*cobra.Command{
			studyCommand(), walltimeCommand(), judgeCommand(), headlinesCommand(), campaignCommand(), storeCommand(), parquetCommand(),
		}},
	}
}
