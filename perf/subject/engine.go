package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"presage/perf/access"
	"presage/perf/engine"
	"presage/perf/engine/engines"
	"presage/perf/internal/num"
	"presage/perf/trace"
)

// Runner returns what runs the program with the inputs in, as often as asked.
func (p *Program) Runner(in Inputs, stdout, stderr io.Writer) (engine.Runner, error) {
	e, err := in.choice().Engine(p.File)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	common := in.request()
	common.Stdout, common.Stderr = stdout, stderr
	return engine.Repeat(e, p.File, common, []byte(in.Stdin)), nil
}

// request returns a request for a run, which records nothing.
func (in *Inputs) request() engine.Request {
	r := engine.Request{
		Args: in.Args, Env: in.Env, Stdin: strings.NewReader(in.Stdin),
		MaxInstructions: in.MaxInstructions, Memory: in.MemoryBytes, Stack: in.StackBytes,
		FreeThreads: in.FreeThreads,
	}
	for _, folder := range in.Folders {
		r.Grants = append(r.Grants, engine.Grant{Guest: folder.Guest, Host: folder.Host, Devices: folder.Devices})
	}
	return r
}

// identity returns which engine runs the program, as it is chosen.
func (p *Program) identity(choice engines.Choice) (engine.Identity, error) {
	e, err := choice.Engine(p.File)
	if err != nil {
		return engine.Identity{}, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return e.Identity(), nil
}

// ended is how a run ended.
type ended struct {
	*engine.Outcome
	failed  string         // as in Facts
	callers []engine.Frame // of the instruction at fault, innermost first
}

// maxCallers bounds the callers that an error lists: a recursion has thousands.
const maxCallers = 12

// reasons returns what may explain a failure, a line each, to end an error with: the
// callers of the instruction at fault, and the files that the program was not allowed
// to open; "" of a program that did not fail.
func (e *ended) reasons() string {
	if e.failed == "" {
		return ""
	}
	var s strings.Builder
	for _, f := range e.callers[:min(len(e.callers), maxCallers)] {
		fmt.Fprintf(&s, "\n\t%v", f)
	}
	return s.String() + e.Refusals()
}

// execute runs the program on its engine. That the program fails is no error.
func (p *Program) execute(ctx context.Context, r *Request, sink trace.Sink, stdout, stderr io.Writer) (ended, error) {
	run, err := p.Runner(r.Inputs, stdout, stderr)
	if err != nil {
		return ended{}, err
	}
	out, err := run(ctx, engine.Request{Plan: r.Plan, Windows: r.Windows, Sink: sink, Progress: r.Progress})
	var fault *engine.Fault
	switch {
	case err == nil:
		return ended{Outcome: out, failed: out.Failure()}, nil
	case errors.As(err, &fault) && out != nil:
		return ended{Outcome: out, failed: fault.Error(), callers: fault.Backtrace}, nil
	}
	return ended{}, fmt.Errorf("perf: %s: %w", r.Inputs.Command(), err)
}

// warnings returns what was not done as the program asked, and what is missing.
func (e *ended) warnings(command string) []string {
	var out []string
	if e.FreeThreads && e.Threads > 1 {
		out = append(out, fmt.Sprintf("%s: its %d threads ran at the same time: another run may differ in the order of their accesses and in what the program makes depend on it", command, e.Threads))
	}
	if text := e.Unrecorded(); text != "" {
		out = append(out, fmt.Sprintf("%s: %s", command, text))
	}
	for _, s := range e.UnknownSyscalls {
		out = append(out, fmt.Sprintf("%s: %v", command, s))
	}
	return out
}

// unrecorded returns a warning of memory references that the run executed although
// static analysis had not found them, so that no plan has them; "" if there were
// none. If the run was recorded as a whole, it is repeated to count them.
func (p *Program) unrecorded(ctx context.Context, r *Request, e *ended) string {
	if e.UnplannedRefs == 0 || len(r.Plan.Refs) == 0 { // none was to be recorded
		return ""
	}
	text := r.Inputs.Command() + ": %d memory references that static analysis had not found were executed and not recorded"
	if e.Unplanned == nil {
		return fmt.Sprintf(text, e.UnplannedRefs)
	}
	unknown := p.notFound(e.Unplanned)
	if len(unknown) == 0 {
		return "" // all were left out of the plan
	}
	text = fmt.Sprintf(text, len(unknown))
	if r.Windows != nil || e.failed != "" {
		return text
	}
	again := Request{Inputs: r.Inputs, Plan: &trace.Plan{Flow: &trace.FlowPlan{Places: unknown}}}
	counted, err := p.execute(ctx, &again, trace.NewPipeline(), io.Discard, io.Discard)
	if err != nil || counted.Flow == nil {
		return text
	}
	n := uint64(0)
	for _, c := range counted.Flow.Places {
		n += c
	}
	return fmt.Sprintf("%s, %d times: %s of the accesses", text, n, num.Percent(float64(n)/float64(n+e.Accesses)))
}

// notFound returns which of some addresses, ascending, hold no reference that
// static analysis found.
func (p *Program) notFound(pcs []trace.PC) []trace.PC {
	refs := p.References()
	var out []trace.PC
	for _, pc := range pcs {
		if _, ok := slices.BinarySearchFunc(refs, pc, func(r access.Reference, pc trace.PC) int { return cmp.Compare(r.PC, pc) }); !ok {
			out = append(out, pc)
		}
	}
	return out
}
