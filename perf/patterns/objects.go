package patterns

import (
	"cmp"
	"context"
	"math"
	"slices"

	"presage/perf/allocation"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/subject"
)

// Object is what a program accesses, with its misses at a level of a machine as
// simulated at a point.
type Object struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Object  string             `frame:"object"` // as in locality.Carried
	// Size is that of a variable, or the most that was allocated at a site at a time;
	// missing of parts of the heap, mappings, the stack and the rest. Footprint is that of the level's blocks that were accessed in it,
	// and OfSize is Footprint / Size: more than 1 where blocks reach beyond.
	Size      float64 `frame:"object_bytes"`
	Footprint float64 `frame:"footprint_bytes"`
	// Touched is what was accessed of the footprint, in 64ths of a block where these
	// are larger than a byte: less where records or strides leave gaps.
	Touched float64 `frame:"touched_bytes"`
	// Alike is the share of the blocks of the footprint that are touched in one of the
	// eight most common ways: near 1 for records and strides, less for random places.
	Alike    float64 `frame:"touched_alike_share"`
	OfSize   float64 `frame:"footprint_over_size"`
	Accesses float64 `frame:"sim_accesses"`
	Misses   float64 `frame:"sim_misses"`
	Conflict float64 `frame:"sim_conflict_misses"` // as in Simulated
	Share    float64 `frame:"sim_miss_share"`
	Used     float64 `frame:"sim_used_share"`
	// With is the object whose misses evicted most of the blocks that then missed
	// though fully associative caches would have held them; CollideMisses are these,
	// and CollideSets is the number of sets that they were in, of Sets.
	With          string  `frame:"collides_with"`
	CollideMisses float64 `frame:"sim_collision_misses"`
	CollideSets   uint64  `frame:"collision_sets"`
	Sets          uint64  `frame:"sets"`
	// Of allocation sites: the allocators called there, how often they gave memory, and
	// how many bytes in all. Numbers are missing of others.
	Allocators  string  `frame:"allocators"`
	Allocations float64 `frame:"allocations"`
	Allocated   float64 `frame:"allocated_bytes"`
	Warning     string  `frame:"sim_warning"`

	used, fetched float64
}

// SimulateObjects is Simulate by object: a row for each point, level and object that
// was accessed, those with the most misses first. Of the options it does not regard
// By; a Listing chooses rows, and the rest is left out.
func SimulateObjects(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]Object, error) {
	runs, err := simulateAll(ctx, prog, m, points, opt)
	if err != nil {
		return nil, err
	}
	var rows []Object
	for i := range runs {
		about, err := runs[i].aboutObjects()
		if err != nil {
			return nil, err
		}
		for k := range runs[i].result.Levels {
			own := runs[i].objects(&runs[i].result.Levels[k], about)
			parts := make([]float64, len(own))
			for j := range own {
				parts[j] = own[j].Misses
			}
			rows = append(rows, own[:opt.Listing.Listed(parts)]...)
		}
	}
	return rows, nil
}

// aboutObjects returns what is known of variables and allocation sites of a program, by
// name; variables of one name are together.
func (r *simulated) aboutObjects() (map[string]allocation.Object, error) {
	by, err := locality.ClassificationOf(r.prog)
	if err != nil {
		return nil, err
	}
	about := make(map[string]allocation.Object)
	for i := range by.Objects {
		if o := &by.Objects[i]; o.Variable {
			x := about[o.Name]
			x.Size += o.Hi - o.Lo
			about[o.Name] = x
		}
	}
	for _, x := range r.result.Memory {
		if x.Size > 0 {
			about[x.Name] = x
		}
	}
	return about, nil
}

// objects returns the objects of a level.
func (r *simulated) objects(l *storedLevel, about map[string]allocation.Object) []Object {
	at := make(map[string]int)
	var rows []Object
	total := 0.0
	for i := range l.Classes {
		x := &l.Classes[i]
		n, ok := at[x.Object]
		if !ok {
			n = len(rows)
			at[x.Object] = n
			rows = append(rows, Object{Program: r.program, Point: r.point, Machine: r.machine, Level: l.Name, Object: x.Object, Sets: l.Sets, Warning: r.warning})
		}
		row := &rows[n]
		row.Accesses += float64(x.Accesses)
		row.Footprint += float64(x.Cold * l.BlockBytes)
		row.Misses += float64(x.Counts.Misses)
		row.Conflict += float64(x.Counts.Conflict)
		row.used += float64(x.Counts.Used)
		row.fetched += float64(x.Counts.Fetched)
		total += float64(x.Counts.Misses)
	}
	for _, x := range l.Touched {
		if n, ok := at[x.Object]; ok && x.Scope == wholeProgram {
			rows[n].Touched, rows[n].Alike = float64(x.Bytes), x.Alike
		}
	}
	for i := len(l.Collisions) - 1; i >= 0; i-- { // the most come first
		x := &l.Collisions[i]
		row := &rows[at[x.Object]]
		row.With, row.CollideMisses, row.CollideSets = x.With, float64(x.Misses), x.Sets
	}
	for i := range rows {
		row := &rows[i]
		row.Size, row.OfSize, row.Used, row.Allocations, row.Allocated = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
		if x, ok := about[row.Object]; ok {
			row.Size, row.OfSize = float64(x.Size), row.Footprint/float64(x.Size)
			if x.Site() {
				row.Allocations, row.Allocated, row.Allocators = float64(x.Count), float64(x.Bytes), x.Allocators
			}
		}
		if row.fetched > 0 {
			row.Used = row.used / row.fetched
		}
		row.Share = num.Ratio(row.Misses, total)
	}
	slices.SortStableFunc(rows, func(a, b Object) int {
		return cmp.Or(-cmp.Compare(a.Misses, b.Misses), cmp.Compare(a.Object, b.Object))
	})
	return rows
}
