package sharing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"presage/perf/allocation"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Options configures Simulate. The zero value is the default.
type Options struct {
	subject.RunOptions
	BlockBytes uint64          // a power of two of at most 64; 0: 64
	By         subject.Scope   // what scopes are: loops (the default), routines, references or the program
	Listing    subject.Listing // the rows that there are, by their share of the misses; others are left out
}

// Row is the coherence misses of a scope on an object after writes of another scope, or
// of the same in another thread.
type Row struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Block   uint64             `frame:"block_bytes"`
	Object  string             `frame:"object"` // as in locality.Carried
	Scope   string             `frame:"scope"`  // that misses
	Writer  string             `frame:"writer"` // that wrote the block last before
	Blocks  uint64             `frame:"blocks"` // in which these misses are
	Misses  float64            `frame:"sim_coherence_misses"`
	False   float64            `frame:"sim_false_sharing_misses"`
	Share   float64            `frame:"sim_miss_share"` // of Misses, from 0 to 1
	Warning string             `frame:"sim_warning"`
}

// Simulate runs prog at each point and returns its coherence misses: rows by point, those
// with the most misses first; none if no thread takes a block from another. Results are
// kept in the store.
func Simulate(ctx context.Context, prog *subject.Program, points []subject.Point, opt Options) ([]Row, error) {
	by, err := cmp.Or(opt.By, subject.ByLoop).Check()
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	size := cmp.Or(opt.BlockBytes, maxBlockBytes)
	if size&(size-1) != 0 || size > maxBlockBytes {
		return nil, fmt.Errorf("perf: sharing: blocks of %d bytes: want a power of two of at most %d", size, maxBlockBytes)
	}
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	var rows []Row
	err = sweep.Each(ctx, func(step subject.Step, loaded subject.Loaded) error {
		found, err := simulateStep(ctx, loaded, step, size)
		if err != nil {
			return err
		}
		own, err := found.rows(loaded.Program, by, Row{Program: sweep.Name, Point: step.Point, Block: size, Warning: strings.Join(found.Facts.Warnings, "; ")})
		if err != nil {
			return err
		}
		parts := make([]float64, len(own))
		for k := range own {
			parts[k] = own[k].Misses
		}
		rows = append(rows, own[:opt.Listing.Listed(parts)]...)
		return nil
	})
	return rows, err
}

// version is part of the key of stored results: raise it when their meaning changes.
const version = 2

// stored is what the store holds of a run.
type stored struct {
	Facts  subject.Facts
	Misses []storedMiss // by reference and address
	Parts  []part       `json:",omitempty"`
	Free   uint64       `json:",omitempty"` // where they could go
}

type storedMiss struct {
	Ref, Writer, First trace.RefID
	Address            uint64
	Memory             string `json:",omitempty"` // the object there, if memory told of it
	Counts             counts
}

func simulateStep(ctx context.Context, loaded subject.Loaded, step subject.Step, size uint64) (*stored, error) {
	prog, in := loaded.Program, loaded.Inputs
	kinds, err := locality.ClassificationOf(prog)
	if err != nil {
		return nil, err
	}
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	plan = &trace.Plan{Refs: plan.Refs, Memory: kinds.Plan.Memory}
	memo, err := subject.Memo(step, "sharing", version, struct {
		Inputs     subject.Inputs
		Plan       string
		BlockBytes uint64
		Allocation int `json:",omitempty"`
	}{in, plan.Digest(), size, allocation.VersionOf(plan)}, func(running func(uint64)) (*stored, error) {
		c := newCollector(plan, size)
		c.memory = kinds.Memory()
		res, err := prog.Run(ctx, subject.Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{c}, Progress: running})
		if err != nil {
			return nil, err
		}
		out := &stored{Facts: res.Facts, Misses: c.result(), Parts: c.parts()}
		if len(out.Parts) > 0 {
			out.Free = c.free()
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

// result returns the misses.
func (c *collector) result() []storedMiss {
	c.finish()
	var all []storedMiss
	for key, n := range c.found {
		x := storedMiss{key.ref, key.writer, key.first, key.object, "", *n}
		if key.memory != allocation.None {
			x.Memory = c.memory.Objects()[key.memory].Name
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b storedMiss) int {
		return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Writer, b.Writer), cmp.Compare(a.Address, b.Address), cmp.Compare(a.First, b.First), cmp.Compare(a.Memory, b.Memory))
	})
	return all
}

// rows sums misses by object and scopes, each row beginning as blank does.
func (s *stored) rows(prog *subject.Program, by subject.Scope, blank Row) ([]Row, error) {
	kinds, err := locality.ClassificationOf(prog)
	if err != nil {
		return nil, err
	}
	type key struct{ object, scope, writer string }
	at := make(map[key]int)
	seen := make(map[key]map[uint64]bool)
	var rows []Row
	total := 0.0
	for i := range s.Misses {
		m := &s.Misses[i]
		k := key{cmp.Or(m.Memory, kinds.NameAt(m.Address, m.First)), prog.ScopeOf(by, subject.Ref(m.Ref)), prog.ScopeOf(by, subject.Ref(m.Writer))}
		n, ok := at[k]
		if !ok {
			n = len(rows)
			at[k], seen[k] = n, make(map[uint64]bool)
			rows = append(rows, blank)
			rows[n].Object, rows[n].Scope, rows[n].Writer = k.object, k.scope, k.writer
		}
		row := &rows[n]
		if block := m.Address / blank.Block; !seen[k][block] {
			seen[k][block] = true
			row.Blocks++
		}
		row.Misses += float64(m.Counts.True + m.Counts.False)
		row.False += float64(m.Counts.False)
		total += float64(m.Counts.True + m.Counts.False)
	}
	for i := range rows {
		rows[i].Share = num.Ratio(rows[i].Misses, total)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return -cmp.Compare(a.Misses, b.Misses) })
	return rows, nil
}
