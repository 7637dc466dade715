package misses

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/campaign"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulateOptions configures Simulate.
type SimulateOptions struct {
	subject.RunOptions
	By subject.Scope
	// Listing says which scopes have a row, by their share of a level's misses.
	Listing subject.Listing
	// FullyAssociative simulates, in the same run, the hierarchy once more with
	// every cache fully associative, which tells conflict misses from the rest.
	FullyAssociative bool
	// PageBytes, if not 0, is the size of pages, which lie in random places of
	// memory, as an operating system allocates them: caches beyond the first are
	// then indexed by physical addresses, and otherwise by the program's own.
	PageBytes uint64
}

// hierarchy returns the machine's hierarchy with the pages of the options.
func (opt *SimulateOptions) hierarchy(m *machine.Machine) cache.Config {
	c := m.Hierarchy()
	opt.place(&c)
	return c
}

// place places the pages of a hierarchy.
func (opt *SimulateOptions) place(c *cache.Config) {
	for i := 1; i < len(c.Levels); i++ {
		c.Levels[i].PageBytes = opt.PageBytes
	}
}

// SimulatedRow is the misses of a scope at a level of a machine, as simulated at a
// point.
type SimulatedRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"sim_accesses"`           // all of the scope, also those that hit above the level
	Misses   float64            `frame:"sim_misses"`             // at the level
	Full     float64            `frame:"sim_misses_fully_assoc"` // if all caches were fully associative; missing unless asked for
	Cold     float64            `frame:"sim_cold_misses"`        // those of Misses that were the first access to the block there
	Ratio    float64            `frame:"sim_miss_ratio"`         // Misses / Accesses
	Warning  string             `frame:"sim_warning"`            // why the row is doubtful, such as a system call that is not emulated
}

// Simulate runs prog at each point and simulates the machine's memory hierarchy
// exactly on its accesses: the reference that predictions are held against. There
// is a row for each point, level and scope that accessed memory, those with the
// most misses first. Results are kept in the store. prog is nil if the options
// have Binaries: see SimulateBinaries.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]SimulatedRow, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	return simulateAll(ctx, sweep.Name, sweep.Points, m, opt)
}

// SimulateBinaries is Simulate for a program whose sizes are fixed at compile time.
// Rows have the name that locality.ProfileBinaries would give it, so that they join
// with predictions from other executables of it; routines and loops have the names
// that executables of one source have in common, see cfg.Scope.Origin.
func SimulateBinaries(ctx context.Context, points []subject.BinaryPoint, m *machine.Machine, opt SimulateOptions) ([]SimulatedRow, error) {
	if err := subject.CheckBinaries(points); err != nil {
		return nil, err
	}
	var at []subject.Point
	opt.RunOptions, at = opt.OfBinaries(points)
	return Simulate(ctx, nil, m, at, opt)
}

func simulateAll(ctx context.Context, name string, points []subject.BinaryPoint, m *machine.Machine, opt SimulateOptions) ([]SimulatedRow, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	sims, err := opt.simulate(ctx, points, m.Name, simulation{opt.hierarchy(m), opt.FullyAssociative})
	if err != nil {
		return nil, err
	}
	var rows []SimulatedRow
	for i, p := range points {
		sim := sims[i]
		scopes, err := opt.scopes(p.Program, by)
		if err != nil {
			return nil, err
		}
		fresh := sim.rows(scopes, opt.Listing, SimulatedRow{Program: name, Point: p.Point, Machine: m.Name})
		for j := range fresh {
			if by == subject.ByProgram {
				fresh[j].Scope = name
			}
		}
		rows = append(rows, fresh...)
	}
	opt.Progress.Finish(len(points))
	return rows, nil
}

// scopes divides the groups of references of a program.
func (opt *SimulateOptions) scopes(prog *subject.Program, by subject.Scope) (subject.Partition, error) {
	first, err := prog.FirstRefs()
	if err != nil {
		return subject.Partition{}, err
	}
	if opt.CompiledIn {
		return prog.OriginsOf(by, first), nil
	}
	return prog.ScopesOf(by, first), nil
}

// simulate returns the simulations of the runs at some points. The options' store is
// set.
func (opt *SimulateOptions) simulate(ctx context.Context, points []subject.BinaryPoint, on string, s simulation) ([]*storedCache, error) {
	tasks, err := opt.tasks(ctx, points, on, s)
	if err != nil {
		return nil, err
	}
	return campaign.Map(ctx, opt.Campaign, opt.Store, opt.Progress, tasks)
}

// tasks returns what simulates the runs at some points on a machine of a name. The
// options' store is set.
func (opt *SimulateOptions) tasks(ctx context.Context, points []subject.BinaryPoint, on string, s simulation) ([]campaign.Task[*storedCache], error) {
	tasks := make([]campaign.Task[*storedCache], len(points))
	for i, p := range points {
		loaded, err := p.Program.At(ctx, p.Point, opt.RunOptions)
		if err != nil {
			return nil, err
		}
		in := loaded.Inputs
		p.Program = loaded.Program
		points[i] = p
		tasks[i] = campaign.Task[*storedCache]{
			Job: func() (campaign.Job, error) { return s.job(p, in, on, opt.Store) },
			Collect: func(ctx context.Context) (*storedCache, error) {
				step := subject.Step{Options: &opt.RunOptions, Point: p.Point, Done: i, Total: len(points)}
				return s.simulate(ctx, p.Program, step, in)
			},
		}
	}
	return tasks, nil
}

// simulation is what is simulated of a run.
type simulation struct {
	config cache.Config
	full   bool // once more with every cache fully associative
}

// cacheVersion is part of the key of a stored simulation, beside the engine's
// version and the plan: raise it when the meaning of cache.Result changes, or counts were
// wrong.
const cacheVersion = 2

// storedCache is what the store holds for one simulated run. Full is nil if it
// was not asked for.
type storedCache struct {
	Facts        subject.Facts
	Result, Full *cache.Result
}

// cacheKind is the kind of stored simulations.
const cacheKind = "cache"

// cacheInputs is what a storedCache depends on.
type cacheInputs struct {
	Inputs subject.Inputs
	Plan   string
	Config cache.Config
	Full   bool
}

// simulate returns the simulation of one run with the inputs in, from the store if it
// is there.
func (s *simulation) simulate(ctx context.Context, prog *subject.Program, step subject.Step, in subject.Inputs) (*storedCache, error) {
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	inputs := cacheInputs{in, plan.Digest(), s.config, s.full}
	memo, err := subject.Memo(step, cacheKind, cacheVersion, inputs, func(running func(uint64)) (*storedCache, error) {
		return s.run(ctx, prog, subject.Request{Inputs: in, Plan: plan, Progress: running})
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Facts.Warnings = append(memo.Value.Facts.Warnings, memo.Warning)
	}
	return memo.Value, nil
}

func (s *simulation) run(ctx context.Context, prog *subject.Program, r subject.Request) (*storedCache, error) {
	configs := []cache.Config{s.config}
	if s.full {
		configs = append(configs, s.config.FullyAssociative())
	}
	var simulators []*cache.Simulator
	for _, c := range configs {
		sim, err := cache.New(r.Plan, c)
		if err != nil {
			return nil, err
		}
		simulators, r.Collectors = append(simulators, sim), append(r.Collectors, trace.Collector(sim))
	}
	res, err := prog.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &storedCache{Facts: res.Facts, Result: simulators[0].Result()}
	if s.full {
		out.Full = simulators[1].Result()
	}
	return out, nil
}

// rows sums the groups of a simulation by scope, each row beginning as blank does.
// A scope without accesses has no row.
func (s *storedCache) rows(scopes subject.Partition, list subject.Listing, blank SimulatedRow) []SimulatedRow {
	accesses := accessesByGroup(s.Result, len(scopes.Of))
	blank.Warning = strings.Join(s.Facts.Warnings, "; ")
	if s.Full == nil {
		blank.Full = math.NaN()
	}
	full := resultLevels(s.Full)
	var rows []SimulatedRow
	for i, l := range resultLevels(s.Result) {
		sums := make([]SimulatedRow, len(scopes.Names))
		for n := range sums {
			sums[n] = blank
			sums[n].Level, sums[n].Scope = l.Name, scopes.Names[n]
		}
		for g, counts := range l.Groups {
			row := &sums[scopes.Of[g]]
			row.Accesses += float64(accesses[g])
			row.Misses += float64(counts.Misses)
			row.Cold += float64(counts.Cold)
			if s.Full != nil {
				row.Full += float64(full[i].Groups[g].Misses)
			}
		}
		slices.SortStableFunc(sums, func(a, b SimulatedRow) int { return cmp.Compare(b.Misses, a.Misses) })
		sums = slices.DeleteFunc(sums, func(r SimulatedRow) bool { return r.Accesses == 0 })
		for n := range sums {
			sums[n].Ratio = sums[n].Misses / sums[n].Accesses
		}
		rows = append(rows, listedSimulated(sums, list)...)
	}
	return rows
}

// resultLevels returns the caches of a result, then its TLBs; none of nil.
func resultLevels(r *cache.Result) []cache.LevelResult {
	if r == nil {
		return nil
	}
	return slices.Concat(r.Levels, r.TLBs)
}

// accessesByGroup returns how often each group accessed memory: the maximum over
// levels, since the level where a group enters sees all its accesses.
func accessesByGroup(r *cache.Result, groups int) []uint64 {
	most := make([]uint64, groups)
	for _, l := range resultLevels(r) {
		for g, counts := range l.Groups {
			most[g] = max(most[g], counts.Accesses)
		}
	}
	return most
}
