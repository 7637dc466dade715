package misses

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
)

// PrefetchOptions configures SimulatePrefetching.
type PrefetchOptions struct {
	SimulateOptions // without FullyAssociative

	Timing
}

// PrefetchedRow is what a machine's prefetchers do for a scope at a level of cache, as
// simulated at a point. All but Fetched and Useless are of the scope that asks for
// blocks, these two of the scope whose accesses made the prefetchers fetch.
type PrefetchedRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"sim_accesses"`       // all of the scope, also those that hit above the level
	Without  float64            `frame:"sim_misses"`         // without prefetchers, as Simulate has it
	Left     float64            `frame:"sim_demand_misses"`  // with them: blocks neither there nor on their way
	Late     float64            `frame:"sim_late_misses"`    // blocks on their way, fetched before they were asked for
	Wait     float64            `frame:"sim_late_cycles"`    // until blocks of Late were there, after they were asked for, at the lowest level that a prefetch missed: see cache.Prefetches
	Covered  float64            `frame:"sim_covered_misses"` // blocks that a prefetch had brought, and that had not been asked for before
	// Share is (Covered + Late) / (Covered + Late + Left).
	Share   float64 `frame:"sim_covered_share"`
	Fetched float64 `frame:"sim_prefetches"`         // that the level did not hold
	Useless float64 `frame:"sim_useless_prefetches"` // those of Fetched not asked for before they left, or the end
	Warning string  `frame:"sim_warning"`
}

// SimulatePrefetching simulates the caches of a machine at each point as Simulate does,
// and once more with the machine's prefetchers. There is a row for each point, level and
// scope that accessed memory or made prefetchers fetch, those with the most misses
// without prefetchers first. Results are kept in the store. It returns
// machine.ErrNoPrefetchers if the description has none.
func SimulatePrefetching(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt PrefetchOptions) ([]PrefetchedRow, error) {
	if opt.FullyAssociative {
		return nil, errors.New("perf: fully associative caches are not simulated with prefetchers")
	}
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	if _, err := m.Prefetching(opt.AccessesPerCycle); err != nil {
		return nil, err
	}
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	plain, err := opt.simulate(ctx, sweep.Points, m.Name, simulation{config: opt.hierarchy(m)})
	if err != nil {
		return nil, err
	}
	fetching, assumed, err := opt.fetching(ctx, sweep.Points, m)
	if err != nil {
		return nil, err
	}
	var rows []PrefetchedRow
	for i, p := range sweep.Points {
		scopes, err := opt.scopes(p.Program, by)
		if err != nil {
			return nil, err
		}
		if by == subject.ByProgram {
			scopes.Names = []string{sweep.Name}
		}
		blank := PrefetchedRow{Program: sweep.Name, Point: p.Point, Machine: m.Name}
		blank.Warning = strings.Join(slices.Concat(plain[i].Facts.Warnings, assumed), "; ")
		rows = append(rows, opt.prefetchedRows(plain[i].Result, fetching[i].Result, scopes, opt.Listing, blank)...)
	}
	opt.Progress.Finish(len(sweep.Points))
	return rows, nil
}

// fetching returns the simulations with prefetchers, and what was assumed for them. With
// a clock, each run has a hierarchy of its own.
func (opt *PrefetchOptions) fetching(ctx context.Context, points []subject.BinaryPoint, m *machine.Machine) (all []*storedCache, assumed []string, err error) {
	on := m.Name + " with prefetchers"
	if opt.Clock == nil {
		with, err := m.Prefetching(opt.AccessesPerCycle)
		if err != nil {
			return nil, nil, err
		}
		opt.place(&with.Config)
		all, err = opt.simulate(ctx, points, on, simulation{config: with.Config})
		return all, with.Assumed, err
	}
	for _, p := range points {
		loaded, err := p.Program.At(ctx, p.Point, opt.RunOptions)
		if err != nil {
			return nil, nil, err
		}
		with, err := opt.Config(ctx, m, loaded.Program, loaded.Inputs)
		if err != nil {
			return nil, nil, err
		}
		opt.place(&with.Config)
		one, err := opt.simulate(ctx, []subject.BinaryPoint{p}, on, simulation{config: with.Config})
		if err != nil {
			return nil, nil, err
		}
		all, assumed = append(all, one...), with.Assumed
	}
	return all, assumed, nil
}

// prefetchedRows sums the groups of two simulations by scope, each row beginning as
// blank does.
func (opt *PrefetchOptions) prefetchedRows(plain, with *cache.Result, scopes subject.Partition, list subject.Listing, blank PrefetchedRow) []PrefetchedRow {
	accesses := accessesByGroup(plain, len(scopes.Of))
	var rows []PrefetchedRow
	for i, l := range with.Levels {
		sums := make([]PrefetchedRow, len(scopes.Names))
		for n := range sums {
			sums[n] = blank
			sums[n].Level, sums[n].Scope = l.Name, scopes.Names[n]
		}
		for g, p := range l.PrefetchedGroups {
			row := &sums[scopes.Of[g]]
			row.Accesses += float64(accesses[g])
			row.Without += float64(plain.Levels[i].Groups[g].Misses)
			row.Left += float64(l.Groups[g].Misses)
			row.Late += float64(p.Late)
			row.Wait += opt.Cycles(p.Wait)
			row.Covered += float64(p.Covered)
			row.Fetched += float64(p.Fetched)
			row.Useless += float64(p.Useless())
		}
		slices.SortStableFunc(sums, func(a, b PrefetchedRow) int { return cmp.Compare(b.Without, a.Without) })
		sums = slices.DeleteFunc(sums, func(r PrefetchedRow) bool { return r.Accesses == 0 && r.Fetched == 0 })
		rows = append(rows, listedPrefetched(sums, list)...)
	}
	for i := range rows {
		r := &rows[i]
		r.Share = num.Ratio(r.Covered+r.Late, r.Covered+r.Late+r.Left)
	}
	return rows
}

// listedPrefetched is listedBy for rows of prefetching.
func listedPrefetched(rows []PrefetchedRow, l subject.Listing) []PrefetchedRow {
	return listedBy(rows, l, func(r *PrefetchedRow) float64 { return r.Without }, func(other, r *PrefetchedRow) {
		other.Scope = subject.OtherScopes
		other.Accesses += r.Accesses
		other.Without += r.Without
		other.Left += r.Left
		other.Late += r.Late
		other.Wait += r.Wait
		other.Covered += r.Covered
		other.Fetched += r.Fetched
		other.Useless += r.Useless
	})
}
