package patterns

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"presage/perf/allocation"
	"presage/perf/cache"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulateOptions configures Simulate. The zero value is the default.
type SimulateOptions struct {
	subject.RunOptions
	// By says what scopes and sources are: loops (the default), routines or the
	// program. Carriers are loops.
	By subject.Scope
	// Listing says which patterns have a row, by their share of a level's misses.
	Listing subject.Listing
	// Prefetching adds what the machine's prefetchers leave and cover of each pattern, by
	// two more simulations; machine.ErrNoPrefetchers if the description has none. Timing
	// tells which are late.
	Prefetching bool
	misses.Timing
}

// Simulate runs prog at each point and simulates the machine's memory hierarchy
// exactly, twice: as it is, and with fully associative caches, which tells conflict
// misses. There is a row for each point, level and pattern, those with the most
// misses first; the misses of a level add up to those of misses.Simulate. Results are
// kept in the store. prog is nil if the options have Binaries.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]Simulated, error) {
	runs, err := simulateAll(ctx, prog, m, points, opt)
	if err != nil {
		return nil, err
	}
	var rows []Simulated
	for _, r := range runs {
		for i := range r.result.Levels {
			rows = append(rows, listedSimulated(r.rows(&r.result.Levels[i]), opt.Listing)...)
		}
	}
	return rows, nil
}

// Level is all that a simulation found of a level of a machine at a point.
type Level struct {
	Name       string
	BlockBytes uint64
	Patterns   []Simulated // those with the most misses first
	Objects    []Object    // likewise
	Extents    []Extent    // by object and scope
	HugePages  uint64      // of 2 MiB, that hold the blocks accessed
	Full       float64     // misses if all caches are fully associative
	FullAhead  Prefetched  // likewise with prefetchers, if these are simulated
	// Libraries are the scopes that are library code, by name: see Program.LibraryScopes.
	Libraries map[string]bool
	Threads   int // that made accesses
}

// Extent is what a scope accesses of an object.
type Extent struct {
	Object    string
	Scope     string  // a loop or routine
	Footprint float64 // bytes of the blocks accessed
	Touched   float64 // bytes of these that are, as in Object
	Alike     float64 // as in Object
}

// extents returns those of a level.
func (r *simulated) extents(l *storedLevel) []Extent {
	var all []Extent
	for _, x := range l.Touched {
		if x.Scope != wholeProgram {
			all = append(all, Extent{x.Object, r.scopeName(subject.ByLoop, x.Scope), float64(x.Blocks * l.BlockBytes), float64(x.Bytes), x.Alike})
		}
	}
	return all
}

// SimulateLevels is Simulate with objects: the levels of each point, caches before
// TLBs. A Listing is not regarded.
func SimulateLevels(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([][]Level, error) {
	runs, err := simulateAll(ctx, prog, m, points, opt)
	if err != nil {
		return nil, err
	}
	var all [][]Level
	for i := range runs {
		r := &runs[i]
		about, err := r.aboutObjects()
		if err != nil {
			return nil, err
		}
		libraries := r.prog.LibraryScopes()
		var levels []Level
		for k := range r.result.Levels {
			l := &r.result.Levels[k]
			levels = append(levels, Level{l.Name, l.BlockBytes, listedSimulated(r.rows(l), subject.Listing{}), r.objects(l, about), r.extents(l), l.HugePages, float64(l.Full), r.cycles(l.FullAhead), libraries, r.result.Threads})
		}
		all = append(all, levels)
	}
	return all, nil
}

// stored is what the store holds of one simulated run.
type stored struct {
	Facts  subject.Facts
	Levels []storedLevel       // caches, then TLBs
	Memory []allocation.Object // that changes of memory told of

	Threads int // that made accesses
}

type storedLevel struct {
	Name       string
	BlockBytes uint64
	Sets       uint64
	Classes    []storedClass
	Collisions []storedCollision
	Touched    []extent   // by object and scope
	HugePages  uint64     // that hold the blocks accessed
	Full       uint64     // misses if all caches are fully associative
	FullAhead  Prefetched `json:",omitzero"`
}

// storedClass is a class of accesses at a level; Loop and Source are scopes of the
// program.
type storedClass struct {
	Group        trace.GroupID
	Loop, Source int32
	Crosses      bool
	Object       string
	Accesses     uint64
	Cold         uint64 // among these
	Counts       counts
}

type storedCollision struct {
	Object, With string
	Misses, Sets uint64
}

// version is part of the key of a stored simulation: raise it when the meaning of
// stored changes.
const version = 4

// simulated is the simulation of one run.
type simulated struct {
	prog    *subject.Program
	first   []subject.Ref // of each group
	program string        // in tables
	point   subject.Point
	machine string
	origins bool // scopes have the names that executables of one source have in common
	by      subject.Scope
	result  *stored
	ahead   bool // result has what prefetchers do
	timing  misses.Timing
	clock   *cache.Clock // of that; nil: none
	warning string
}

func simulateAll(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]simulated, error) {
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
	var all []simulated
	err = sweep.Each(ctx, func(step subject.Step, loaded subject.Loaded) error {
		kinds, err := locality.ClassificationOf(loaded.Program)
		if err != nil {
			return err
		}
		prefetching, assumed, err := opt.prefetched(ctx, m, loaded)
		if err != nil {
			return err
		}
		res, err := simulateStep(ctx, loaded, step, kinds, m.Hierarchy(), prefetching)
		if err != nil {
			return err
		}
		first, err := loaded.Program.FirstRefs()
		if err != nil {
			return err
		}
		all = append(all, simulated{
			prog: loaded.Program, first: first, program: sweep.Name, point: step.Point, machine: m.Name, origins: opt.CompiledIn, by: by,
			result: res, ahead: prefetching != nil,
			timing: opt.Timing, clock: clockOf(prefetching), warning: strings.Join(slices.Concat(res.Facts.Warnings, assumed), "; "),
		})
		return nil
	})
	return all, err
}

// checkBy returns what scopes are; loops by default.
func checkBy(by subject.Scope) (subject.Scope, error) { return cmp.Or(by, subject.ByLoop).Check() }

// simulateStep returns the simulation of one run, from the store if it is there.
func simulateStep(ctx context.Context, loaded subject.Loaded, step subject.Step, by *locality.Classification, config cache.Config, prefetching *cache.Config) (*stored, error) {
	prog, in := loaded.Program, loaded.Inputs
	memo, err := subject.Memo(step, "patterns", version, struct {
		Inputs     subject.Inputs
		Plan       string
		Config     cache.Config
		Allocation int           `json:",omitempty"`
		Ahead      *cache.Config `json:",omitempty"`
	}{in, by.Plan.Digest(), config, allocation.VersionOf(by.Plan), prefetching}, func(running func(uint64)) (*stored, error) {
		c, err := newCollector(by, config, prefetching)
		if err != nil {
			return nil, err
		}
		res, err := prog.Run(ctx, subject.Request{Inputs: in, Plan: by.Plan, Collectors: []trace.Collector{c}, Progress: running})
		if err != nil {
			return nil, err
		}
		return &stored{Facts: res.Facts, Levels: c.result(), Memory: c.memory(), Threads: len(c.threads)}, nil
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Facts.Warnings = append(memo.Value.Facts.Warnings, memo.Warning)
	}
	return memo.Value, nil
}

// memory returns the objects that changes of memory told of.
func (c *collector) memory() []allocation.Object {
	if len(c.sizes) == 0 || c.sizes[0].memory == nil {
		return nil
	}
	return c.sizes[0].memory.Objects()
}

// result returns the counts of all levels.
func (c *collector) result() []storedLevel {
	c.finish()
	full := c.full.Result()
	var fullAhead []Prefetched
	if c.ahead != nil {
		fullAhead = c.ahead.without()
	}
	var all []storedLevel
	for i := range c.levels {
		l := &c.levels[i]
		s := &c.sizes[l.size]
		out := storedLevel{Name: l.name, BlockBytes: s.bytes, Sets: l.sets}
		out.Touched, out.HugePages = c.footprint(s)
		if i < len(full.Levels) {
			out.Full = full.Levels[i].Total.Misses
			if fullAhead != nil {
				out.FullAhead = fullAhead[i]
			}
		} else {
			out.Full = full.TLBs[i-len(full.Levels)].Total.Misses
		}
		for n := range uint32(s.classes.Classes()) {
			h := s.classes.Histogram(n)
			if h.Accesses() == 0 {
				continue
			}
			x := s.classes.Class(n)
			if c.ahead != nil && i >= len(full.Levels) { // a TLB
				l.counts[n].Ahead.Left = float64(l.counts[n].Misses)
			}
			out.Classes = append(out.Classes, storedClass{
				x.Group, x.Loop, x.Source, x.Crosses, c.nameOf(s, n), h.Accesses(), h.Cold, l.counts[n],
			})
		}
		for _, key := range slices.SortedFunc(maps.Keys(l.collide), func(a, b [2]string) int {
			return cmp.Or(-cmp.Compare(l.collide[a].misses, l.collide[b].misses), slices.Compare(a[:], b[:]))
		}) {
			x := l.collide[key]
			out.Collisions = append(out.Collisions, storedCollision{key[0], key[1], x.misses, uint64(len(x.sets))})
		}
		all = append(all, out)
	}
	return all
}

// rows returns the patterns of a level that accessed memory.
func (r *simulated) rows(l *storedLevel) []Simulated {
	scopes := r.scopesOf()
	at := make(map[Pattern]int)
	var rows []Simulated
	for i := range l.Classes {
		x := &l.Classes[i]
		p := Pattern{Scope: scopes[x.Group], Source: r.scopeName(r.by, x.Source), Carrier: r.scopeName(subject.ByLoop, x.Loop), Crosses: x.Crosses, Object: x.Object}
		n, ok := at[p]
		if !ok {
			n = len(rows)
			at[p] = n
			rows = append(rows, Simulated{Program: r.program, Point: r.point, Machine: r.machine, Level: l.Name, Pattern: p, Warning: r.warning})
			if r.ahead {
				rows[n].Columns = make(map[string]float64) // filled once they are summed up
			}
		}
		row := &rows[n]
		row.Accesses += float64(x.Accesses)
		row.paced += float64(x.Accesses) * r.pace(x.Group)
		row.Misses += float64(x.Counts.Misses)
		row.Conflict += float64(x.Counts.Conflict)
		row.used += float64(x.Counts.Used)
		row.fetched += float64(x.Counts.Fetched)
		row.Prefetched = row.Prefetched.Plus(r.cycles(x.Counts.Ahead))
	}
	return rows
}

// scopesOf returns the name of the scope of each group.
func (r *simulated) scopesOf() []string {
	names := make([]string, len(r.first))
	for g, ref := range r.first {
		switch {
		case r.by == subject.ByProgram:
			names[g] = r.program
		case r.origins:
			names[g] = r.prog.OriginOf(r.by, ref)
		default:
			names[g] = r.prog.ScopeOf(r.by, ref)
		}
	}
	return names
}

// scopeName names a scope of the program, or the routine that it is in; none if it is
// below 0.
func (r *simulated) scopeName(by subject.Scope, scope int32) string {
	if scope < 0 {
		return ""
	}
	tree := r.prog.Structure().Scopes
	at := int(scope)
	for by == subject.ByRoutine && tree.Scopes[at].Parent > 0 {
		at = tree.Scopes[at].Parent
	}
	switch {
	case at == 0 || by == subject.ByProgram:
		return r.program
	case r.origins:
		return tree.Scopes[at].Origin
	}
	return tree.Scopes[at].Path
}
