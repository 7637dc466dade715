package misses

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulateBinaries does what SimulateMisses does for a program whose sizes are
// fixed at compile time. Tables call it what ProfileBinaries would call it, so
// that Compare finds the predictions made from other executables of it; scopes
// are those of each executable.
func SimulateBinaries(ctx context.Context, points []subject.BinaryPoint, m *machine.Machine, opt SimulateOptions) (dataframe.DataFrame, error) {
	scope, err := opt.By.Check()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	if err := subject.CheckBinaries(points); err != nil {
		return dataframe.DataFrame{}, err
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	opt.CompiledIn = true
	name := subject.CommonName(points)
	var rows []simRow
	for i, p := range points {
		sim, err := simulateOne(ctx, p.Program, opt.hierarchy(m), p.Point, opt, st, opt.Reporter(p.Point, i, len(points)))
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		fresh, err := simRows(p.Program, scope, sim, simRow{Program: name, Point: p.Point, Machine: m.Name})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for j := range fresh {
			if scope == subject.ByProgram {
				fresh[j].Scope = name
			}
		}
		rows = append(rows, fresh...)
	}
	opt.Finished(len(points))
	return frame.Of(rows), nil
}

// SimulateOptions say how a program is simulated and what the table tells.
type SimulateOptions struct {
	subject.RunOptions
	By subject.Scope
	// FullyAssociative simulates, in the same run, the hierarchy once more with
	// every cache fully associative, which tells conflict misses from the rest.
	FullyAssociative bool
	// PageBytes has caches beyond the first indexed by physical addresses, with
	// pages of so many bytes in random places of memory, as an operating system
	// gives them out; 0: by the program's own addresses.
	PageBytes uint64
}

// hierarchy returns the machine's hierarchy as it is to be simulated.
func (opt *SimulateOptions) hierarchy(m *machine.Machine) cache.Config {
	c := m.Hierarchy()
	for i := 1; i < len(c.Levels); i++ {
		c.Levels[i].PageBytes = opt.PageBytes
	}
	return c
}

// simRow is a row of the table of simulations.
type simRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"sim_accesses"`
	Misses   float64            `frame:"sim_misses"`
	Full     float64            `frame:"sim_misses_fully_assoc"`
	Cold     float64            `frame:"sim_cold_misses"`
	Ratio    float64            `frame:"sim_miss_ratio"`
	Warning  string             `frame:"sim_warning"`
}

// cacheVersion is part of the key of a stored simulation, beside the engine
// and the plan: raise it when the meaning of cache.Result changes.
const cacheVersion = 1

// storedCache is what the store holds for one simulated run. Full is nil if it
// was not asked for.
type storedCache struct {
	Facts        subject.RunFacts
	Result, Full *cache.Result
}

// SimulateMisses runs prog at each point and simulates the machine's memory
// hierarchy exactly on its accesses: the reference that predictions are held
// against. The table has a row for each point, level and scope, those with the
// most misses first, and these columns.
//
//   - sim_accesses: all accesses of the scope, also those that a level never
//     sees because they hit above it
//   - sim_misses: misses at the level
//   - sim_misses_fully_assoc: misses if all caches were fully associative;
//     missing unless asked for
//   - sim_cold_misses: those of sim_misses that were the first access to the block there
//   - sim_miss_ratio: sim_misses / sim_accesses
//   - sim_warning: why the row is doubtful, such as a system call that is not
//     emulated
//
// Results are kept in the store.
func SimulateMisses(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) (dataframe.DataFrame, error) {
	scope, err := opt.By.Check()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []simRow
	for i, point := range points {
		sim, err := simulateOne(ctx, prog, opt.hierarchy(m), point, opt, st, opt.Reporter(point, i, len(points)))
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		fresh, err := simRows(prog, scope, sim, simRow{Program: prog.Name, Point: point, Machine: m.Name})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, fresh...)
	}
	opt.Finished(len(points))
	return frame.Of(rows), nil
}

func simulateOne(ctx context.Context, prog *subject.Program, config cache.Config, point subject.Point, opt SimulateOptions, st *store.Store, report func(uint64, bool)) (*storedCache, error) {
	in, err := prog.Inputs(point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	key, err := store.NewKey("cache", cacheVersion, struct {
		Inputs subject.Inputs
		Plan   string
		Config cache.Config
		Full   bool
	}{in, plan.Digest(), config, opt.FullyAssociative})
	if err != nil {
		return nil, err
	}
	stored := true
	sim, warning, err := store.Memo(st, key, func() (*storedCache, error) {
		stored = false
		report(0, false)
		return simulate(ctx, prog, in, config, opt.FullyAssociative, func(n uint64) { report(n, false) })
	})
	if stored {
		report(0, true)
	}
	if err == nil && warning != nil {
		sim.Facts.Warnings = append(sim.Facts.Warnings, warning.Error())
	}
	return sim, err
}

func simulate(ctx context.Context, prog *subject.Program, in subject.Inputs, config cache.Config, full bool, progress func(uint64)) (*storedCache, error) {
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	configs := []cache.Config{config}
	if full {
		configs = append(configs, fullyAssociative(config))
	}
	var simulators []*cache.Simulator
	var collectors []trace.Collector
	for _, c := range configs {
		s, err := cache.New(plan, c)
		if err != nil {
			return nil, err
		}
		simulators, collectors = append(simulators, s), append(collectors, s)
	}
	facts, err := prog.Execute(ctx, in, plan, progress, collectors...)
	if err != nil {
		return nil, err
	}
	sim := &storedCache{Facts: facts, Result: simulators[0].Result()}
	if full {
		sim.Full = simulators[1].Result()
	}
	return sim, nil
}

// fullyAssociative returns the hierarchy with one set in each cache and TLB.
func fullyAssociative(c cache.Config) cache.Config {
	c.Levels, c.TLBs = slices.Clone(c.Levels), slices.Clone(c.TLBs)
	for i := range c.Levels {
		c.Levels[i].Ways, c.Levels[i].PageBytes = 0, 0
	}
	for i := range c.TLBs {
		c.TLBs[i].Ways = 0
	}
	return c
}

// simRows sums the groups of one simulation by scope, each row beginning as
// blank does. A scope without accesses has no row.
func simRows(prog *subject.Program, by subject.Scope, sim *storedCache, blank simRow) ([]simRow, error) {
	first, err := prog.FirstRefs()
	if err != nil {
		return nil, err
	}
	names, of := prog.ScopesOf(by, first)
	accesses := accessesByGroup(sim.Result, len(first))
	blank.Warning = strings.Join(sim.Facts.Warnings, "; ")
	if sim.Full == nil {
		blank.Full = math.NaN()
	}
	full := resultLevels(sim.Full)
	var rows []simRow
	for i, l := range resultLevels(sim.Result) {
		sums := make([]simRow, len(names))
		for s := range sums {
			sums[s] = blank
			sums[s].Level, sums[s].Scope = l.Name, names[s]
		}
		for g, counts := range l.Groups {
			row := &sums[of[g]]
			row.Accesses += float64(accesses[g])
			row.Misses += float64(counts.Misses)
			row.Cold += float64(counts.Cold)
			if sim.Full != nil {
				row.Full += float64(full[i].Groups[g].Misses)
			}
		}
		slices.SortStableFunc(sums, func(a, b simRow) int { return cmp.Compare(b.Misses, a.Misses) })
		for _, row := range sums {
			if row.Accesses > 0 {
				row.Ratio = row.Misses / row.Accesses
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// resultLevels returns the caches of a result, then its TLBs; none of nil.
func resultLevels(r *cache.Result) []cache.LevelResult {
	if r == nil {
		return nil
	}
	return slices.Concat(r.Levels, r.TLBs)
}

// accessesByGroup returns how often each group accessed memory: what the level
// saw at which the group's accesses enter the hierarchy, which is the most that
// any level saw of them.
func accessesByGroup(r *cache.Result, groups int) []uint64 {
	most := make([]uint64, groups)
	for _, l := range resultLevels(r) {
		for g, counts := range l.Groups {
			most[g] = max(most[g], counts.Accesses)
		}
	}
	return most
}
