package callpath

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulateOptions configures Simulate. The zero value is the default.
type SimulateOptions struct {
	subject.RunOptions
	// By says what paths are made of: routines and the loops in them (ByLoop, the
	// default), or routines alone.
	By subject.Scope
	// Listing says which paths have a row, by the share of the level's misses that they
	// have with all that go on from them. The others are summed up in rows called other,
	// one beside the rows of their siblings.
	Listing subject.Listing
}

// stored is what the store holds of one simulated run.
type stored struct {
	Facts  subject.Facts
	Levels []string // caches, then TLBs
	Nodes  []Node
	Counts []storedCounts // by node and reference
}

// version is part of the key of a stored simulation: raise it when the meaning of stored
// changes, or paths do.
const version = 1

// Simulate runs prog at each point and simulates the machine's memory hierarchy exactly.
// There is a row for each point, level and call path, a path before those that go on from
// it, and of these the one with the most misses first. The first row of a level is that
// of the whole run: its inclusive misses are those of misses.Simulate, and the exclusive
// ones of all rows add up to them. Results are kept in the store. prog is nil if the
// options have Binaries.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]Simulated, error) {
	by, err := checkBy(opt.By)
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	var rows []Simulated
	err = sweep.Each(ctx, func(step subject.Step, loaded subject.Loaded) error {
		res, err := simulateStep(ctx, loaded, step, m.Hierarchy())
		if err != nil {
			return err
		}
		blank := Simulated{Program: sweep.Name, Point: step.Point, Machine: m.Name, Warning: strings.Join(res.Facts.Warnings, "; ")}
		named := res.named(loaded.Program, opt.CompiledIn)
		for l := range res.Levels {
			blank.Level = res.Levels[l]
			root := &branch{element: element{sweep.Name, false}}
			for k := range res.Counts {
				c := &res.Counts[k]
				root.enter(byScope(named(c), by), cost{accesses: float64(c.Accesses[l]), misses: float64(c.Misses[l])}, "")
			}
			root.limit(opt.Listing)
			rows = append(rows, root.simulatedRows(blank)...)
		}
		return nil
	})
	return rows, err
}

// checkBy returns what paths are made of; loops by default.
func checkBy(by subject.Scope) (subject.Scope, error) {
	by, err := cmp.Or(by, subject.ByLoop).Check()
	if err == nil && by == subject.ByReference {
		by = subject.ByLoop
	}
	return by, err
}

// simulateStep returns the simulation of one run, from the store if it is there.
func simulateStep(ctx context.Context, loaded subject.Loaded, step subject.Step, config cache.Config) (*stored, error) {
	all, err := loaded.Program.Plan()
	if err != nil {
		return nil, err
	}
	c, err := newCode(loaded.Program, all)
	if err != nil {
		return nil, err
	}
	memo, err := subject.Memo(step, "call paths", version, struct {
		Inputs subject.Inputs
		Plan   string
		Config cache.Config
	}{loaded.Inputs, c.plan.Digest(), config}, func(running func(uint64)) (*stored, error) {
		counts, err := newCollector(c, config)
		if err != nil {
			return nil, err
		}
		res, err := loaded.Program.Run(ctx, subject.Request{Inputs: loaded.Inputs, Plan: c.plan, Collectors: []trace.Collector{counts}, Progress: running})
		if err != nil {
			return nil, err
		}
		out := &stored{Facts: res.Facts, Nodes: counts.walker.nodes, Counts: counts.result()}
		out.Facts.Warnings = slices.Concat(res.Facts.Warnings, counts.walker.warnings())
		for _, l := range config.Levels {
			out.Levels = append(out.Levels, l.Name)
		}
		for _, t := range config.TLBs {
			out.Levels = append(out.Levels, t.Name)
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Facts.Warnings = append(memo.Value.Facts.Warnings, memo.Warning)
	}
	return memo.Value, nil
}

// References are the misses of each memory reference of a program after each call path,
// as simulated at a point.
type References struct {
	Levels   []string // caches, then TLBs
	Nodes    []Node   // the first is of the whole run; each comes after its parent
	Parts    []ReferencePart
	Warnings []string
}

// ReferencePart is what one reference costs after a path.
type ReferencePart struct {
	Node             int32 // index in References.Nodes
	Ref              subject.Ref
	Accesses, Misses []uint64 // by level; accesses are to blocks of the level's size
}

// SimulateReferences is Simulate for each reference, at one point. Parts are ordered by
// node and reference.
func SimulateReferences(ctx context.Context, loaded subject.Loaded, m *machine.Machine, point subject.Point, opt subject.RunOptions) (*References, error) {
	res, err := simulateStep(ctx, loaded, subject.Step{Options: &opt, Point: point, Total: 1}, m.Hierarchy())
	if err != nil {
		return nil, err
	}
	out := &References{Levels: res.Levels, Nodes: res.Nodes, Warnings: res.Facts.Warnings}
	for _, c := range res.Counts {
		out.Parts = append(out.Parts, ReferencePart{c.Node, subject.Ref(c.Ref), c.Accesses, c.Misses})
	}
	return out, nil
}

// named returns what names the path of each count, the loops around the reference
// included.
func (r *stored) named(prog *subject.Program, origins bool) func(*storedCounts) []element {
	n := newNames(prog, origins)
	paths := n.paths(r.Nodes)
	scope := prog.ScopeOf
	if origins {
		scope = prog.OriginOf
	}
	return func(c *storedCounts) []element {
		return n.withScope(paths[c.Node], scope(subject.ByLoop, subject.Ref(c.Ref)))
	}
}
