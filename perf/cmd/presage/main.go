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

func main() { os.Exit(command(interruptible(context.Background()))) }

// command runs the command that the arguments name, and returns the exit status.
func command(ctx context.Context) int {
	err := rootCommand().ExecuteContext(ctx)
	status := exitStatus(0)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, interrupted)
		return interruptStatus(ctx)
	}
	fmt.Fprintln(os.Stderr, "presage:", err)
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "presage",
		Short: "Predict how a program performs on machines and problem sizes it was never run on",
		Long: `presage profiles a static linux/riscv64 executable (or the Go program in a
folder) at a few small problem sizes, fits models that scale with the size, and
predicts cache and TLB misses on a machine described in a file.

  presage profile ./sweep3d --sweep n=20,26,32,38 --args "-n {n}" -o profiles
  presage train ./sweep3d --until n=80 --args "-n {n}" --budget 2m -o profiles
  presage predict profiles --machine origin2000 --at n=60,80
  presage query profiles --at n=60 --machine origin2000 --level L2 --hit-ratio 0.99
  presage explain ./sweep3d --machine zen4 --at n=44
  presage simulate ./sweep3d --args "-n 60" --machine origin2000
  presage run --stats ./sweep3d -n 60
  presage calibrate -o host.yaml
  presage measure ./sweep3d --sweep n=60,80`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		profileCommand(), trainCommand(), histogramCommand(), predictCommand(), queryCommand(), explainCommand(), adviseCommand(), timeCommand(), simulateCommand(), validateCommand(), studyCommand(), judgeCommand(),
		machinesCommand(), headlinesCommand(), runCommand(), analyzeCommand(), checkStridesCommand(),
		calibrateCommand(), measureCommand(), searchCommand(), kernelCommand(), timeKernelsCommand(),
		simpointCommand(), metasimCommand(),
		spmvCommand(),
		inferCommand(),
	)
	return root
}
