package subject

import (
	"context"
	"errors"
	"fmt"
	"io"

	"presage/perf/engine"
	"presage/perf/engine/engines"
	"presage/perf/trace"
)

// Runner returns what runs the program with the inputs in, as often as asked.
func (p *Program) Runner(in Inputs, stdout, stderr io.Writer) (engine.Runner, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	common := engine.Request{Args: in.Args, Env: in.Env, Stdout: stdout, Stderr: stderr, MaxInstructions: in.MaxInstructions}
	for _, folder := range in.Folders {
		common.Grants = append(common.Grants, engine.Grant{Guest: folder.Guest, Host: folder.Host})
	}
	return engine.Repeat(e, p.File, common, []byte(in.Stdin)), nil
}

// identity returns which engine runs the program.
func (p *Program) identity() (engine.Identity, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return engine.Identity{}, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return e.Identity(), nil
}

// ended is how a run ended.
type ended struct {
	*engine.Outcome
	failed string // as in Facts
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
		return ended{out, out.Failure()}, nil
	case errors.As(err, &fault) && out != nil:
		return ended{out, fault.Error()}, nil
	}
	return ended{}, fmt.Errorf("perf: %s: %w", r.Inputs.Command(), err)
}

// warnings returns what was not done as the program asked, or not recorded as the
// plan did.
func (e *ended) warnings(command string, plan *trace.Plan) []string {
	var out []string
	for _, s := range e.UnknownSyscalls {
		out = append(out, fmt.Sprintf("%s: %v", command, s))
	}
	if e.UnplannedRefs > 0 && len(plan.Refs) > 0 { // else none was to be recorded
		out = append(out, fmt.Sprintf("%s: %d memory references that static analysis had not found were executed and not recorded", command, e.UnplannedRefs))
	}
	return out
}
