package sharing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/subject"
	"presage/perf/trace"
)

// ApartRow is what threads would miss less, on a core each, if the parts of an object that
// are mostly one thread's lay on lines of their own.
type ApartRow struct {
	Program string
	Point   map[string]float64
	Machine string
	Level   string  // that each core has to itself
	All     float64 // misses of the level, of all threads
	Object  string
	Misses  float64 // of All: on what moves of the object
	// Gain is how many of them a simulation with the other layout has not; Low counts those
	// only that are of false sharing if threads run one turn after the other, as in the run:
	// Gain is if they run at once.
	Gain, Low float64
	// Scope is the loop or routine with most misses of false sharing on the object, and
	// Writer that which wrote the block before. Library reports whether most such misses are
	// of library code, after writes of such.
	Scope, Writer string
	Library       bool
	Warning       string
}

// apartVersion is part of the key of stored results: raise it when their meaning changes.
const apartVersion = 1

// storedApart is what the store holds of the two simulations of a run.
type storedApart struct {
	Facts  subject.Facts
	Levels []storedPrivate
}

// storedPrivate are the misses of a private level: of all threads, and by object as it is
// and apart.
type storedPrivate struct {
	All           uint64
	Before, After []uint64
}

// fewFalse is the share of a run's accesses that must be misses of false sharing for
// caches to be simulated.
const fewFalse = 1e-6

// SimulateApart runs prog at each point and finds objects whose parts are used by one
// thread each but share lines. Then the machine's caches are simulated for threads on a core
// each, as SimulateCaches does, with the objects as they are and with the parts of each
// thread on lines of their own: rows by point, level and object, those with the largest gain
// first; none of a run in which hardly any miss is of false sharing. Results are kept in the
// store.
func SimulateApart(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt CacheOptions) ([]ApartRow, error) {
	private, err := opt.private(m)
	if err != nil {
		return nil, err
	}
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	bytes := m.Caches[0].BlockBytes
	if bytes > maxBlockBytes {
		return nil, fmt.Errorf("perf: sharing: %w: blocks of %d bytes, more than %d", ErrCaches, bytes, maxBlockBytes)
	}
	if _, err := newCores(new(trace.Plan), m.Hierarchy(), private); err != nil {
		return nil, err
	}
	var rows []ApartRow
	err = sweep.Each(ctx, func(step subject.Step, loaded subject.Loaded) error {
		found, err := simulateStep(ctx, loaded, step, bytes)
		if err != nil {
			return err
		}
		a, err := found.objects(loaded.Program)
		if err != nil {
			return err
		}
		if a.misses < fewFalse*float64(found.Facts.Accesses) || len(found.Parts) == 0 {
			return nil
		}
		counts, err := simulateApart(ctx, loaded, step, m.Hierarchy(), private, found, a)
		if err != nil {
			return err
		}
		rows = append(rows, a.rows(counts, ApartRow{Program: sweep.Name, Point: step.Point, Machine: m.Name, Warning: strings.Join(found.Facts.Warnings, "; ")}, m)...)
		return nil
	})
	return rows, err
}

// ErrCaches means that caches are not simulated for threads on a core each.
var ErrCaches = errors.New("caches of threads are not simulated")

// private returns how many levels each core has to itself.
func (opt *CacheOptions) private(m *machine.Machine) (int, error) {
	private := len(m.Caches) - 1
	if opt.Shared != "" {
		private = slices.IndexFunc(m.Caches, func(c machine.Cache) bool { return c.Name == opt.Shared })
	}
	if private < 1 {
		return 0, fmt.Errorf("perf: sharing: %w: %q is no level of %s below another: name one that threads share", ErrCaches, opt.Shared, m.Name)
	}
	return private, nil
}

// simulateApart returns the simulations of a run, from the store if they are there.
func simulateApart(ctx context.Context, loaded subject.Loaded, step subject.Step, config cache.Config, private int, found *stored, a *falseObjects) (*storedApart, error) {
	prog, in := loaded.Program, loaded.Inputs
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	memo, err := subject.Memo(step, "sharing apart", apartVersion, struct {
		Inputs  subject.Inputs
		Plan    string
		Config  cache.Config
		Private int
		Parts   []part
		Of      []int32
		Free    uint64
	}{in, plan.Digest(), config, private, found.Parts, a.of, found.Free}, func(running func(uint64)) (*storedApart, error) {
		x, err := newApart(plan, config, private, found, a)
		if err != nil {
			return nil, err
		}
		res, err := prog.Run(ctx, subject.Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{x}, Progress: running})
		if err != nil {
			return nil, err
		}
		return &storedApart{res.Facts, x.result()}, nil
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Facts.Warnings = append(memo.Value.Facts.Warnings, memo.Warning)
	}
	return memo.Value, nil
}

// apart simulates threads on a core each, with objects as they are and with the parts of
// each thread on lines of their own. It is a trace.Collector.
type apart struct {
	is, apart *cores
	to        *layout
	levels    []storedPrivate
	moved     trace.Batch
}

var _ trace.Collector = (*apart)(nil)

func newApart(plan *trace.Plan, config cache.Config, private int, found *stored, a *falseObjects) (*apart, error) {
	from, to := layouts(found.Parts, a.of, config.Levels[0].BlockBytes, found.Free)
	x := &apart{to: from, levels: make([]storedPrivate, private)}
	for i := range x.levels {
		x.levels[i].Before, x.levels[i].After = make([]uint64, len(a.list)), make([]uint64, len(a.list))
	}
	var err error
	if x.is, err = newCores(plan, config, private); err != nil {
		return nil, err
	}
	if x.apart, err = newCores(plan, config, private); err != nil {
		return nil, err
	}
	x.is.missed = func(addr uint64, m cache.Missed) {
		x.levels[m.Level].All++
		if o := from.at(addr); o >= 0 {
			x.levels[m.Level].Before[o]++
		}
	}
	x.apart.missed = func(addr uint64, m cache.Missed) {
		if o := to.at(addr); o >= 0 {
			x.levels[m.Level].After[o]++
		}
	}
	return x, nil
}

// Observe implements trace.Collector.
func (x *apart) Observe(b *trace.Batch) {
	x.is.Observe(b)
	x.moved = *b
	x.moved.Accesses = make([]trace.Access, 0, len(b.Accesses))
	for _, a := range b.Accesses {
		x.moved.Accesses = x.to.move(x.moved.Accesses, a)
	}
	x.apart.Observe(&x.moved)
}

func (x *apart) result() []storedPrivate {
	x.is.flush()
	x.apart.flush()
	return x.levels
}

// rows returns those of a run, each beginning as blank does.
func (a *falseObjects) rows(s *storedApart, blank ApartRow, m *machine.Machine) []ApartRow {
	var rows []ApartRow
	for i := range s.Levels {
		l := &s.Levels[i]
		first := len(rows)
		for o := range a.list {
			r, x := blank, &a.list[o]
			r.Level, r.All = m.Caches[i].Name, float64(l.All)
			r.Object, r.Scope, r.Writer, r.Library = x.name, x.scope, x.writer, x.library
			r.Misses, r.Gain = float64(l.Before[o]), float64(l.Before[o])-float64(l.After[o])
			r.Low = min(r.Gain, x.misses)
			rows = append(rows, r)
		}
		slices.SortStableFunc(rows[first:], func(p, q ApartRow) int {
			return cmp.Or(-cmp.Compare(p.Gain, q.Gain), cmp.Compare(p.Object, q.Object))
		})
	}
	return rows
}
