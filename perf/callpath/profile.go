package callpath

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Short names of what histograms are of.
type (
	groupID   = trace.GroupID
	histogram = reuse.Histogram
)

// profiler divides a run of a model by call path. The run is repeated twice: to count
// what each path accesses and, once it is known which paths matter in any run, to collect
// histograms of these.
type profiler struct {
	run   *locality.Run
	code  *code
	all   *trace.Plan // of the references that were profiled
	store *store.Store
	found *storedPaths
	names *names
	of    [][]element // by node
	class []int       // by node: index of its path among those that matter

	running func(instructions uint64) // called now and then during a run
}

// storedPaths is what the first of the two runs finds.
type storedPaths struct {
	Nodes    []Node
	Counts   []storedAccesses // by node and reference
	Warnings []string
}

// storedAccesses are those of a reference after a path.
type storedAccesses struct {
	Node     int32
	Ref      trace.RefID
	Accesses uint64
	// Moves are those to another block than the reference's last one: no other may
	// miss, unless the block was taken away in between.
	Moves uint64
}

// profileVersion is part of the keys of what the store holds of profiles: raise it when
// its meaning changes, or paths do.
const profileVersion = 1

// moveShift is the log2 of the bytes of a block of storedAccesses.Moves.
const moveShift = 6

// counter counts by path and reference. It is a trace.Collector.
type counter struct {
	walker *walker
	memo   []memo
	last   []uint64 // by reference: its last block, plus 1
	index  map[key]int32
	found  []storedAccesses
}

var _ trace.Collector = (*counter)(nil)

func newCounter(c *code) *counter {
	return &counter{walker: newWalker(c), memo: newMemos(c.plan), last: make([]uint64, len(c.plan.Refs)), index: make(map[key]int32)}
}

// Observe implements trace.Collector.
func (c *counter) Observe(b *trace.Batch) { c.walker.observe(b, c.access) }

func (c *counter) access(node int32, accesses []trace.Access) {
	for _, a := range accesses {
		ref := a.Ref()
		m := &c.memo[ref]
		if m.node != node {
			at, ok := c.index[key{node, ref}]
			if !ok {
				at = int32(len(c.found))
				c.index[key{node, ref}] = at
				c.found = append(c.found, storedAccesses{Node: node, Ref: ref})
			}
			*m = memo{node, at}
		}
		own := &c.found[m.at]
		own.Accesses++
		if block := a.Addr()>>moveShift + 1; block != c.last[ref] {
			c.last[ref] = block
			own.Moves++
		}
	}
}

// newProfiler counts by path in a run of a model, unless the store has that.
func newProfiler(ctx context.Context, run *locality.Run, st *store.Store, origins bool, running func(uint64)) (*profiler, error) {
	if err := run.Repeatable(st); err != nil {
		return nil, err
	}
	planOf := run.Program.Plan
	if !run.Recorded.Stack {
		planOf = run.Program.DataPlan
	}
	all, err := planOf()
	if err != nil {
		return nil, err
	}
	p := &profiler{run: run, all: all, store: st, running: running}
	if p.code, err = newCode(run.Program, all); err != nil {
		return nil, err
	}
	k, err := store.NewKey("call path counts", profileVersion, struct {
		Inputs subject.Inputs
		Plan   string
	}{run.Recorded.Inputs, p.code.plan.Digest()})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(st, k, func() (*storedPaths, error) { return p.count(ctx) })
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Warnings = append(memo.Value.Warnings, memo.Warning)
	}
	p.found = memo.Value
	p.names = newNames(run.Program, origins)
	p.of = p.names.paths(p.found.Nodes)
	return p, nil
}

func (p *profiler) count(ctx context.Context) (*storedPaths, error) {
	c := newCounter(p.code)
	if _, err := p.run.Program.Run(ctx, subject.Request{Inputs: p.run.Recorded.Inputs, Plan: p.code.plan, Collectors: []trace.Collector{c}, Progress: p.running}); err != nil {
		return nil, err
	}
	slices.SortFunc(c.found, func(a, b storedAccesses) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Ref, b.Ref)) })
	return &storedPaths{c.walker.nodes, c.found, c.walker.warnings()}, nil
}

// shares returns, by path, the larger of its shares of the run's accesses and of their
// moves, those of paths that go on from it included.
func (p *profiler) shares() map[string]float64 {
	type sum struct{ accesses, moves float64 }
	own := make([]sum, len(p.found.Nodes))
	var total sum
	for i := range p.found.Counts {
		c := &p.found.Counts[i]
		own[c.Node].accesses += float64(c.Accesses)
		own[c.Node].moves += float64(c.Moves)
		total.accesses += float64(c.Accesses)
		total.moves += float64(c.Moves)
	}
	sums := make(map[string]sum)
	for n, s := range own {
		for i := range p.of[n] {
			k := keyOf(p.of[n][:i+1])
			old := sums[k]
			sums[k] = sum{old.accesses + s.accesses, old.moves + s.moves}
		}
	}
	out := make(map[string]float64)
	for k, s := range sums {
		out[k] = max(s.accesses/max(1, total.accesses), s.moves/max(1, total.moves))
	}
	return out
}

// part is what one group of references has of a path.
type part struct {
	class int // index of the path
	own   trace.GroupID
}

// storedParts are the histograms of the parts of a run.
type storedParts struct {
	Hists [][]reuse.Histogram // by block size, then part
}

// parts returns what the groups of some references access after each path that matters:
// only those of several paths, as wanted tells by reference.
func (p *profiler) parts(wanted func(trace.GroupID) bool) []part {
	seen := make(map[part]bool)
	for i := range p.found.Counts {
		c := &p.found.Counts[i]
		if g := p.all.Refs[c.Ref].Group; wanted(g) {
			seen[part{p.class[c.Node], g}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b part) int {
		return cmp.Or(cmp.Compare(a.own, b.own), cmp.Compare(a.class, b.class))
	})
}

// histograms returns those of parts, by block size, and of all else at the end. paths are
// the names of those that matter.
func (p *profiler) histograms(ctx context.Context, parts []part, sizes []uint64, paths []string) ([][]reuse.Histogram, error) {
	type named struct {
		Path  string
		Group trace.GroupID
	}
	var names []named
	for _, x := range parts {
		names = append(names, named{paths[x.class], x.own})
	}
	k, err := store.NewKey("call path histograms", profileVersion, struct {
		Inputs subject.Inputs
		Plan   string
		Sizes  []uint64
		Parts  []named
		Paths  []string // those that join others
	}{p.run.Recorded.Inputs, p.code.plan.Digest(), sizes, names, paths})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(p.store, k, func() (*storedParts, error) { return p.collect(ctx, parts, sizes) })
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		p.found.Warnings = append(p.found.Warnings, memo.Warning)
	}
	return memo.Value.Hists, nil
}

// collect repeats the run with the parts as groups.
func (p *profiler) collect(ctx context.Context, parts []part, sizes []uint64) (*storedParts, error) {
	r, err := newRelabeller(p, parts)
	if err != nil {
		return nil, err
	}
	collectors := make([]*reuse.Collector, len(sizes))
	all := make([]trace.Collector, len(sizes))
	for i, size := range sizes {
		opt := reuse.Options{BlockBytes: size}
		opt.Spread(len(sizes))
		if collectors[i], err = reuse.New(r.plan, opt); err != nil {
			return nil, err
		}
		all[i] = collectors[i]
	}
	pipeline := trace.NewPipeline(all...)
	r.sink = trace.NewCompressor(r.plan, pipeline)
	r.batch = r.sink.Exchange(nil)
	_, err = p.run.Program.Run(ctx, subject.Request{Inputs: p.run.Recorded.Inputs, Plan: p.code.plan, Collectors: []trace.Collector{r}, Progress: p.running})
	if closeErr := pipeline.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("callpath: histograms at %s: %w", p.run.Point, err)
	}
	if r.strange > 0 {
		return nil, fmt.Errorf("callpath: at %s, %d accesses were not after paths that they had a run before: the program does not repeat its run, and cannot be modelled by call path", p.run.Point, r.strange)
	}
	out := new(storedParts)
	for _, c := range collectors {
		out.Hists = append(out.Hists, c.Result().Groups)
	}
	return out, nil
}

// relabeller passes accesses on under references that tell paths apart. It is a
// trace.Collector.
type relabeller struct {
	walker  *walker
	class   []int          // by node of the run that was counted
	counted map[Node]int32 // nodes of that run
	same    []int32        // by node: that of the run that was counted; none
	plan    *trace.Plan
	memo    []memo // by reference
	index   map[relabelled]trace.RefID
	sink    trace.Sink
	batch   *trace.Batch
	strange uint64 // accesses that the run did not have when it was counted
}

// relabelled is a reference after a path that matters.
type relabelled struct {
	class int
	ref   trace.RefID
}

var _ trace.Collector = (*relabeller)(nil)

// newRelabeller returns one whose plan has a group for each part, and one for the rest.
func newRelabeller(p *profiler, parts []part) (*relabeller, error) {
	group := make(map[part]trace.GroupID)
	for i, x := range parts {
		group[x] = trace.GroupID(i)
	}
	r := &relabeller{
		walker: newWalker(p.code), class: p.class, counted: make(map[Node]int32), plan: new(trace.Plan), memo: newMemos(p.code.plan), index: make(map[relabelled]trace.RefID),
	}
	for n, node := range p.found.Nodes {
		r.counted[node] = int32(n)
	}
	for i := range p.found.Counts {
		c := &p.found.Counts[i]
		k := relabelled{p.class[c.Node], c.Ref}
		if _, ok := r.index[k]; ok {
			continue
		}
		ref := p.all.Refs[c.Ref]
		own, ok := group[part{k.class, ref.Group}]
		if !ok {
			own = trace.GroupID(len(parts))
		}
		r.index[k] = trace.RefID(len(r.plan.Refs))
		r.plan.Refs = append(r.plan.Refs, trace.Ref{PC: trace.PC(len(r.plan.Refs)), Size: ref.Size, Kind: ref.Kind, Float: ref.Float, Group: own})
	}
	if len(r.plan.Refs) == 0 {
		return nil, fmt.Errorf("callpath: %s at %s accesses no memory", p.run.Program.Name, p.run.Point)
	}
	if err := r.plan.Check(); err != nil {
		return nil, fmt.Errorf("callpath: references after paths: %w; a larger share joins more paths", err)
	}
	return r, nil
}

// Observe implements trace.Collector.
func (r *relabeller) Observe(b *trace.Batch) {
	out := r.batch
	out.Start, out.Thread = b.Start, b.Thread
	r.walker.observe(b, func(node int32, accesses []trace.Access) {
		for _, a := range accesses {
			m := &r.memo[a.Ref()]
			if m.node != node {
				*m = memo{node, r.find(node, a.Ref())}
			}
			if m.at < 0 {
				r.strange++
				continue
			}
			out.Accesses = append(out.Accesses, trace.Tag(trace.RefID(m.at), uint8(a.Size()))+trace.Access(a.Addr()))
		}
	})
	r.batch = r.sink.Exchange(out)
}

// find returns the reference that stands for one after a path; none if the run had no such
// access when it was counted.
func (r *relabeller) find(node int32, ref trace.RefID) int32 {
	for n := len(r.same); n < len(r.walker.nodes); n++ {
		as := r.walker.nodes[n]
		if n > 0 {
			as.Parent = r.same[as.Parent]
		}
		at, ok := r.counted[as]
		if !ok {
			at = none
		}
		r.same = append(r.same, at)
	}
	if was := r.same[node]; was >= 0 {
		if at, ok := r.index[relabelled{r.class[was], ref}]; ok {
			return int32(at)
		}
	}
	return none
}
