package replay

import (
	"fmt"
	"slices"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// Translate returns a run of another executable as if it had been one of c, for a
// program that was compiled anew for each size: blocks correspond by their routine's
// name and their number in it. It returns an error if a routine that was executed
// has other blocks, loops or references here, as where the compiler chose
// other instructions for another size.
func (c *Code) Translate(run *Run, from *Code) (*Run, error) {
	t := translator{to: c, from: from, routines: namesakes(c.graph), same: make(map[int]error)}
	t.number = numbers(from.graph)
	out := *run
	out.Contexts, out.Places = slices.Clone(run.Contexts), slices.Clone(run.Places)
	for i := range out.Contexts {
		t.block(&out.Contexts[i].Call)
	}
	for i := range out.Places {
		p := &out.Places[i]
		t.block(&p.Block)
		p.Next = slices.Clone(p.Next)
		for k := range p.Next {
			t.block(&p.Next[k].Block)
		}
		p.Branch = slices.Clone(p.Branch)
		for k := range p.Branch {
			t.branch(&p.Branch[k])
		}
	}
	if t.err != nil {
		return nil, fmt.Errorf("replay: %w", t.err)
	}
	return &out, nil
}

type translator struct {
	to, from *Code
	routines map[string][]*cfg.Routine // of to, by name, ascending
	number   []int                     // by routine of from: among those of its name
	same     map[int]error             // by routine of from: whether it has the same blocks
	err      error                     // the first
}

// namesakes returns a program's routines by name: libraries have several static ones
// of one name.
func namesakes(g *cfg.Program) map[string][]*cfg.Routine {
	all := make(map[string][]*cfg.Routine)
	for _, r := range g.Routines {
		all[r.Name] = append(all[r.Name], r)
	}
	return all
}

// numbers returns, for each routine, which of its name it is.
func numbers(g *cfg.Program) []int {
	seen := make(map[string]int)
	out := make([]int, len(g.Routines))
	for i, r := range g.Routines {
		out[i] = seen[r.Name]
		seen[r.Name]++
	}
	return out
}

// counterpart returns the routine of to that routine i of from is; nil if there is
// none.
func (t *translator) counterpart(i int) *cfg.Routine {
	if list := t.routines[t.from.graph.Routines[i].Name]; t.number[i] < len(list) {
		return list[t.number[i]]
	}
	return nil
}

func (t *translator) branch(b *RunBranch) {
	b.Classes = slices.Clone(b.Classes)
	for i := range b.Classes {
		b.Classes[i].Shape = slices.Clone(b.Classes[i].Shape)
		for k := range b.Classes[i].Shape {
			t.block(&b.Classes[i].Shape[k])
		}
	}
}

// block replaces a block of from by that of to.
func (t *translator) block(id *trace.BlockID) {
	if *id == noBlock || t.err != nil {
		return
	}
	b := &t.from.blocks[*id]
	err, known := t.same[b.routine]
	if !known {
		err = t.compare(t.from.graph.Routines[b.routine], t.counterpart(b.routine))
		t.same[b.routine] = err
	}
	if t.err = err; err != nil {
		return
	}
	r := t.counterpart(b.routine)
	*id = t.to.blockAt(r.Blocks[b.index].PC())
}

// compare returns an error unless a routine has the same blocks in both executables.
func (t *translator) compare(r, o *cfg.Routine) error {
	if o == nil {
		return fmt.Errorf("one executable has no routine %s", r.Name)
	}
	differs := len(o.Blocks) != len(r.Blocks)
	for i := 0; i < len(r.Blocks) && !differs; i++ {
		x, y := t.from.blockAt(r.Blocks[i].PC()), t.to.blockAt(o.Blocks[i].PC())
		if x == noBlock || y == noBlock {
			differs = true
			continue
		}
		a, b := &t.from.blocks[x], &t.to.blocks[y]
		differs = a.refs != b.refs || a.exit != b.exit || a.forks != b.forks || a.header != b.header || !slices.Equal(a.chain, b.chain) ||
			!t.sameRefs(a, b)
	}
	if differs {
		return fmt.Errorf("%s differs between the executables in more than constants", r.Name)
	}
	return nil
}

// sameRefs reports whether the references of two blocks are alike.
func (t *translator) sameRefs(a, b *block) bool {
	for k := range a.refs {
		x, y := t.from.Plan.Refs[int(a.firstRef)+k], t.to.Plan.Refs[int(b.firstRef)+k]
		if x.Size != y.Size || x.Kind != y.Kind || x.Float != y.Float {
			return false
		}
	}
	return true
}
