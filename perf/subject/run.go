package subject

import (
	"context"
	"fmt"

	"presage/perf/trace"
)

// RecordOptions configures Run. The zero value records every memory reference of
// the whole run.
type RecordOptions struct {
	RunOptions
	// Plan says which references, blocks and transfers of control are recorded;
	// nil: Program.Plan, all references. Collectors are made for a plan.
	Plan *trace.Plan
	// Windows are the stretches of the run that are recorded; nil: all of it.
	Windows []trace.Window
}

// Run runs a program once at a point and hands what it records to all of the
// collectors. A program that fails is an error. Nothing is stored: Memo does
// that.
func Run(ctx context.Context, prog *Program, point Point, opt RecordOptions, collectors ...trace.Collector) (*Result, error) {
	in, err := prog.Inputs(point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	plan := opt.Plan
	if plan == nil {
		if plan, err = prog.Plan(); err != nil {
			return nil, err
		}
	}
	step := Step{Options: &opt.RunOptions, Point: point, Total: 1}
	res, err := prog.Run(ctx, Request{Inputs: in, Plan: plan, Windows: opt.Windows, Collectors: collectors, Progress: step.running})
	if err == nil {
		opt.Progress.Finish(1)
	}
	return res, err
}

// Request is one run of a program.
type Request struct {
	Inputs     Inputs
	Plan       *trace.Plan    // what is recorded
	Windows    []trace.Window // when; nil: always
	Collectors []trace.Collector
	Progress   func(instructions uint64) // called now and then; may be nil

	// MayFail reports a program's failure in Facts.Failed, with the recording up to
	// there; otherwise it is an error.
	MayFail bool
}

// Result is what a run returns beside what its collectors measured.
type Result struct {
	Facts
	Flow *trace.Flow // the transfers of control that Plan.Flow counts; nil without one
}

// Facts are what every kind of run reports.
type Facts struct {
	Args         []string
	Instructions uint64 // executed
	Accesses     uint64 // recorded
	HeapPeak     uint64 // most bytes of heap that brk gave; 0 in recordings of earlier versions
	Mappings     uint64 // of memory, that the program made by itself; likewise
	Processes    int    `json:",omitempty"` // that it started, which are not recorded: engine.Outcome.Processes
	Stdout       string // its last 8 KiB
	Warnings     []string

	// Failed is how the program failed, such as "exit status 2", or empty if it
	// succeeded. If it failed, Output is what may explain it, and the end of its output.
	Failed, Output string
}

// Run runs the program once.
func (p *Program) Run(ctx context.Context, r Request) (*Result, error) {
	stdout, stderr := new(Tail), new(Tail)
	pipeline := trace.NewPipeline(r.Collectors...)
	var sink trace.Sink = pipeline // of an engine that records no runs of loops, they are found here
	if trace.AllTakeRuns(r.Collectors) {
		sink = trace.NewCompressor(r.Plan, pipeline)
	}
	out, err := p.execute(ctx, &r, sink, stdout, stderr)
	closeErr := pipeline.Close()
	command := r.Inputs.Command()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w%s", err, Quote(stderr))
	case closeErr != nil:
		return nil, fmt.Errorf("perf: %s: %w", command, closeErr)
	}
	facts := Facts{
		Args: r.Inputs.Args, Instructions: out.Instructions, Accesses: out.Accesses,
		HeapPeak: out.HeapPeak, Mappings: out.Mappings, Processes: out.Processes,
		Stdout: stdout.String(), Warnings: out.warnings(command), Failed: out.failed,
	}
	if text := p.unrecorded(ctx, &r, &out); text != "" {
		facts.Warnings = append(facts.Warnings, text)
	}
	if facts.Failed != "" {
		facts.Output = out.reasons() + Quote(stderr, stdout)
		if !r.MayFail {
			return nil, &FailedError{Command: command, How: facts.Failed, Output: facts.Output}
		}
	}
	return &Result{Facts: facts, Flow: out.Flow}, nil
}

// FailedError says that a program did not end with status 0.
type FailedError struct {
	Command string
	How     string // it ended, such as "exit status 2"
	Output  string // the end of it, as text that follows
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("perf: %s ended with %s; a failed run is not profiled%s", e.Command, e.How, e.Output)
}

// WarnFailed adds a warning, if the run of a command failed, with the consequence.
func (f *Facts) WarnFailed(command, consequence string) {
	if f.Failed != "" {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s ended with %s; %s%s", command, f.Failed, consequence, f.Output))
	}
}
