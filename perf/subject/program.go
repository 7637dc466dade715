package subject

import (
	"fmt"

	"presage/perf/access"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Program is an executable under study, with its static memory references.
// It is not modified once made, and may be shared.
type Program struct {
	Name string // of the executable, without its folder
	File *objfile.File

	known     knowledge
	libraries libraries
}

// Ref is a memory reference of a program: an index into Outline.Access.All,
// which lists them by ascending address. It is not a trace.RefID, an index into
// a plan, which may leave references out.
type Ref int

// References returns the program's static memory references by ascending
// address: the Ref r is element r. They are found at the first call.
func (p *Program) References() []access.Reference { return p.Outline().Access.All }

// Plan returns the plan that records all of the program's references: there, and
// only there, the trace.RefID of a reference is its Ref. What static analysis
// could not make out does not matter unless it is executed; then the run warns of
// it.
func (p *Program) Plan() (*trace.Plan, error) {
	known := p.plan(access.PlanOptions{Stack: true})
	return known.plan, known.err
}

// DataPlan returns the plan that leaves out the traffic of the stack: of the
// calling convention and of register allocation. Groups are numbered as in Plan.
func (p *Program) DataPlan() (*trace.Plan, error) {
	known := p.plan(access.PlanOptions{})
	return known.plan, known.err
}

// samePlaces returns an error unless each reference of a plan is the one of the
// same index: what Plan promises of RefIDs.
func samePlaces(plan *trace.Plan, all []access.Reference) error {
	if len(plan.Refs) != len(all) {
		return fmt.Errorf("a plan of %d references, and there are %d", len(plan.Refs), len(all))
	}
	for i := range all {
		if plan.Refs[i].PC != all[i].PC {
			return fmt.Errorf("reference %d of the plan is at pc %#x, of the program at %#x", i, uint64(plan.Refs[i].PC), uint64(all[i].PC))
		}
	}
	return nil
}
