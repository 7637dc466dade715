package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"presage/perf/engine/engines"
)

// execution is how programs are executed: flags of presage run, and of all commands
// that run programs.
type execution struct {
	threads     string // turns or free
	engine, cpu string // names; empty: the default
}

// The values of --threads.
const (
	inTurns = "turns"
	freely  = "free"
)

const (
	threadsHelp = "how the threads of an x86-64 program run: turns, one at a time in a fixed order, the same in every run; or free, at the same time, which is faster on several processors, but two runs may differ; not with --carriers, nor where parts of a run are recorded"
	engineHelp  = "how programs are executed: auto; for riscv64 programs interp (interpreter) or jit (just-in-time compiler); for x86-64 programs confined. Those run WITH YOUR RIGHTS unless confined, which keeps them from your files, the network and other programs: see presage run --help"
	cpuHelp     = "processor that an x86-64 program sees, so that libraries choose the routines that they would there: x86-64-v2, x86-64-v3 or x86-64-v4 (default: the one that there is)"
)

func (e *execution) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&e.threads, "threads", inTurns, threadsHelp)
	f.StringVar(&e.engine, "engine", engines.Auto, engineHelp)
	f.StringVar(&e.cpu, "cpu", "", cpuHelp)
	for name, values := range map[string][]string{"threads": {inTurns, freely}, "engine": engines.Names(), "cpu": engines.CPUs()} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag has just been defined
		}
	}
}

// choice returns the engine that is chosen.
func (e *execution) choice() engines.Choice { return engines.Choice{Name: e.engine, CPU: e.cpu} }

// changed reports whether a flag is not as by default.
func (e *execution) changed() bool {
	return e.threads != inTurns && e.threads != "" || e.engine != engines.Auto && e.engine != "" || e.cpu != ""
}

// free reports whether threads run at the same time.
func (e *execution) free() (bool, error) {
	switch e.threads {
	case inTurns, "":
		return false, nil
	case freely:
		return true, nil
	}
	return false, fmt.Errorf("--threads %q: want %s or %s", e.threads, inTurns, freely)
}
