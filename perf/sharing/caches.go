package sharing

import (
	"context"
	"strings"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// CacheOptions configures SimulateCaches. The zero value is the default.
type CacheOptions struct {
	subject.RunOptions
	// Shared is the first level of cache that all threads share; empty: the last. Those
	// above are private to each.
	Shared string
}

// CacheRow is what a thread misses at a level of cache, on a core of its own beside those
// of the other threads.
type CacheRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Shared   bool               `frame:"shared"` // by all threads
	Thread   int                `frame:"thread"` // in the order in which they begin
	Accesses float64            `frame:"sim_accesses"`
	Misses   float64            `frame:"sim_misses"`
	// Invalidated are the misses on blocks that writes of other threads took away from the
	// level; Supplied those of a shared level on blocks that another core holds, which
	// supplies them.
	Invalidated float64 `frame:"sim_invalidated_misses"`
	Supplied    float64 `frame:"sim_supplied_misses"`
	Alone       float64 `frame:"sim_misses_alone"` // if the thread had all levels to itself, and no other wrote
	// Distances are the misses by reuse distance, of fully associative LRU caches: at
	// private levels by the distances of the thread itself, at shared ones by those of all
	// threads together, of which the thread has the share of its accesses. Composed are
	// those that the distances of each thread by itself predict for a shared level, at
	// equal pace and with no data in common; missing at private ones.
	Distances float64 `frame:"pred_misses_distances"`
	Composed  float64 `frame:"pred_misses_composed"`
	Common    float64 `frame:"common_blocks_share"` // of the blocks that threads access, those that several do
	Warning   string  `frame:"sim_warning"`
}

// coresVersion is part of the key of stored results: raise it when their meaning changes.
const coresVersion = 1

// storedCores is what the store holds of a run.
type storedCores struct {
	Facts   subject.Facts
	Threads []storedCore
	All     reuse.Histogram // distances of all threads together
}

type storedCore struct {
	Levels   []coreCounts
	Alone    []uint64 // misses by level
	Accesses uint64
	Reuse    reuse.Histogram
}

// SimulateCaches runs prog at each point and simulates the machine's caches, the first for
// each thread and the others for all together: a row for each point, level and thread.
// Results are kept in the store. Prefetchers, TLBs and replacement other than LRU are not
// simulated.
func SimulateCaches(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt CacheOptions) ([]CacheRow, error) {
	private, err := opt.private(m)
	if err != nil {
		return nil, err
	}
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	var rows []CacheRow
	err = sweep.Each(ctx, func(step subject.Step, loaded subject.Loaded) error {
		found, err := simulateCores(ctx, loaded, step, m.Hierarchy(), private)
		if err != nil {
			return err
		}
		rows = append(rows, found.rows(m, private, CacheRow{Program: sweep.Name, Point: step.Point, Machine: m.Name, Warning: strings.Join(found.Facts.Warnings, "; ")})...)
		return nil
	})
	return rows, err
}

func simulateCores(ctx context.Context, loaded subject.Loaded, step subject.Step, config cache.Config, private int) (*storedCores, error) {
	prog, in := loaded.Program, loaded.Inputs
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	memo, err := subject.Memo(step, "cores", coresVersion, struct {
		Inputs  subject.Inputs
		Plan    string
		Config  cache.Config
		Private int
	}{in, plan.Digest(), config, private}, func(running func(uint64)) (*storedCores, error) {
		c, err := newCores(plan, config, private)
		if err != nil {
			return nil, err
		}
		res, err := prog.Run(ctx, subject.Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{c}, Progress: running})
		if err != nil {
			return nil, err
		}
		out := c.result()
		out.Facts = res.Facts
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

// result returns the counts of all threads.
func (c *cores) result() *storedCores {
	c.flush()
	out := &storedCores{All: c.all.Result().Total()}
	for _, x := range c.cores {
		s := storedCore{Levels: x.stats, Accesses: x.accesses, Reuse: x.reuse.Result().Total()}
		own, alone := x.own.Result(), x.alone.Result()
		for i, l := range own.Levels {
			s.Levels[i].Accesses = l.Total.Accesses
		}
		for _, l := range alone.Levels {
			s.Alone = append(s.Alone, l.Total.Misses)
		}
		out.Threads = append(out.Threads, s)
	}
	return out
}

// rows returns the rows of a run, each beginning as blank does.
func (s *storedCores) rows(m *machine.Machine, private int, blank CacheRow) []CacheRow {
	threads := make([]*reuse.Histogram, len(s.Threads))
	blocks, accesses := 0.0, 0.0
	for i := range s.Threads {
		threads[i] = &s.Threads[i].Reuse
		blocks += float64(threads[i].Cold)
		accesses += float64(s.Threads[i].Reuse.Accesses())
	}
	blank.Common = 0
	if blocks > 0 {
		blank.Common = (blocks - float64(s.All.Cold)) / blocks
	}
	var rows []CacheRow
	for i := range m.Caches {
		l := &m.Caches[i]
		capacity := s.capacity(m, i, private)
		var all []float64
		if i >= private {
			all = composed(threads, capacity)
		}
		for t := range s.Threads {
			x := &s.Threads[t]
			n := &x.Levels[i]
			r := blank
			r.Level, r.Shared, r.Thread = l.Name, i >= private, t
			r.Accesses, r.Misses, r.Alone = float64(n.Accesses), float64(n.Misses), float64(x.Alone[i])
			r.Invalidated, r.Supplied = float64(n.Invalidated), float64(n.Supplied)
			if r.Shared {
				r.Composed = all[t]
				r.Distances = float64(s.All.Misses(capacity)) * float64(x.Reuse.Accesses()) / accesses
			} else {
				r.Composed = nan
				r.Distances = float64(x.Reuse.Misses(capacity))
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// capacity returns the blocks that a level holds with those above that it has no copies
// of: those of all cores, if it is shared.
func (s *storedCores) capacity(m *machine.Machine, level, private int) uint64 {
	n := m.Caches[level].Blocks
	for i := level; i > 0 && m.Caches[i].Filling == cache.Exclusive; i-- {
		above := m.Caches[i-1].Blocks
		if level >= private && i-1 < private {
			above *= uint64(len(s.Threads))
		}
		n += above
	}
	return n
}
