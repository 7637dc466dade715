package anatomy

import (
	"fmt"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/subject"
)

// DependenceOptions configures Dependences.
type DependenceOptions struct {
	// Pessimistic assumes that memory references depend on each other unless their
	// formulas exclude it; the default is to assume that they do not.
	Pessimistic bool
}

// Dependence is a pair of instructions of which the second waits for the first.
type Dependence struct {
	FromPC   string `frame:"from_pc"`
	From     string `frame:"from"`
	ToPC     string `frame:"to_pc"`
	To       string `frame:"to"`
	Kind     string `frame:"kind"`                // register; memory flow (store to load), anti (load to store), output (store to store)
	Distance int    `frame:"distance_iterations"` // 0 within an iteration
	Assumed  bool   `frame:"assumed"`             // the formulas do not decide it
}

// Dependences returns the dependence graph of a loop's body (2004, section 2.1;
// 2005, section 2.2). The loop is named as in the table of loops. Of several
// object-code loops that come from it the first is taken, and of its body the
// blocks that are in no inner loop, in the order of their addresses, as if each
// iteration went through all of them. Registers are renamed.
func Dependences(prog *subject.Program, loop string, opt DependenceOptions) ([]Dependence, error) {
	s := prog.Structure()
	index := s.Scopes.Find(loop)
	if index < 0 || s.Scopes.Scopes[index].Kind != cfg.LoopScope {
		return nil, fmt.Errorf("perf: no loop %s; the table of loops has their names", loop)
	}
	scope := &s.Scopes.Scopes[index]
	r, l := s.Graph.Routines[scope.Routine], scope.Loops[0]
	var path []int
	for _, b := range r.Loops[l].Blocks {
		if r.Blocks[b].Loop == l {
			path = append(path, b)
		}
	}
	d := s.Access.Dependences(scope.Routine, l, path, access.DependenceOptions{Pessimistic: opt.Pessimistic})
	var rows []Dependence
	for _, e := range d.Edges {
		from, to := d.Nodes[e.From], d.Nodes[e.To]
		rows = append(rows, Dependence{
			fmt.Sprintf("%#x", from.PC), from.Op, fmt.Sprintf("%#x", to.PC), to.Op,
			e.Kind.String(), e.Distance, e.Assumed,
		})
	}
	return rows, nil
}
