package locality

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"presage/perf/reuse"
	"presage/perf/subject"
)

// ErrNoCarriers is wrapped by errors about runs that were profiled without
// ProfileOptions.Carriers.
var ErrNoCarriers = errors.New("the runs have no carriers of reuses")

// CarrierOptions selects what CarriersOf returns. The zero value is the default.
type CarrierOptions struct {
	// BlockBytes is the size of memory blocks; 0: the runs' smallest.
	BlockBytes uint64
	// By is the scope whose accesses are summed in a row; empty: ByLoop.
	By subject.Scope
}

// Carried is the part of a scope's accesses to an object whose reuses one loop
// carries: its current execution, from entry to exit, is the innermost one that
// contains the access and the one before it to the same block.
type Carried struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Block    uint64             `frame:"block_bytes"`
	Scope    string             `frame:"scope"`                // that accesses the block again
	Carrier  string             `frame:"carrier"`              // a loop; empty: no loop contains both accesses, or there was none before
	Crosses  bool               `frame:"crosses"`              // the accesses are in different iterations of the carrier
	Object   string             `frame:"object"`               // a variable, alloc with the line of the source that allocated the memory, heap@ or mappings@ with the line of the source that accessed the memory first, stack or other
	Accesses uint64             `frame:"accesses"`             // reuses and cold accesses
	Cold     uint64             `frame:"cold_accesses"`        // those that are a block's first
	Distance float64            `frame:"mean_distance_blocks"` // of the reuses; 0 without any

	Histogram reuse.Histogram // of the distances

	Place, Loop Place // of Scope if it is a loop or routine, and of Carrier; Loop is -1 for none
}

// Carriers returns the loops that carry the reuses of the runs, and the objects
// accessed: rows by point, then scope, then the most accesses first. Their
// accesses add up to those of each run. Loops of several executables are those
// of the source that they were aligned to. The error wraps ErrNoCarriers if the
// runs were profiled without.
func (r *Runs) Carriers(opt CarrierOptions) ([]Carried, error) {
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = r.Runs[0].Reuse[0].BlockBytes
	}
	if opt.By == "" {
		opt.By = subject.ByLoop
	}
	if opt.By, err = opt.By.Check(); err != nil {
		return nil, err
	}
	var rows []Carried
	for i := range r.Runs {
		s := carrierSum{runs: r, groups: c, run: i, opt: &opt, rows: make(map[carrierKey]*Carried)}
		if err := s.add(); err != nil {
			return nil, err
		}
		rows = append(rows, s.sorted()...)
	}
	return rows, nil
}

// carrierSum sums the carriers of one run.
type carrierSum struct {
	runs   *Runs
	groups *SharedGroups
	run    int
	opt    *CarrierOptions
	rows   map[carrierKey]*Carried
}

type carrierKey struct {
	scope, object string
	loop          Place
	crosses       bool
}

func (s *carrierSum) add() error {
	run := &s.runs.Runs[s.run]
	parts, err := s.runs.CarriedParts(s.run, s.opt.BlockBytes)
	if err != nil {
		return err
	}
	for i := range parts {
		x := &parts[i]
		key := carrierKey{s.groups.ScopeOf(s.opt.By, x.Group), x.Object, x.Loop, x.Crosses}
		row := s.rows[key]
		if row == nil {
			row = &Carried{
				Program: s.runs.Label(), Point: run.Point, Block: s.opt.BlockBytes, Scope: key.scope, Crosses: key.crosses, Object: key.object,
				Place: s.groups.PlaceOf(x.Group), Loop: key.loop,
			}
			if key.loop >= 0 {
				row.Carrier = s.groups.NameAt(subject.ByLoop, key.loop)
			}
			s.rows[key] = row
		}
		row.Histogram = row.Histogram.Plus(x.Histogram)
	}
	return nil
}

// placeOfScope returns the place of a scope of the executable that made a run; -1
// for none.
func (c *SharedGroups) placeOfScope(run int, scope int32) Place {
	switch {
	case scope < 0:
		return -1
	case c.Program != nil:
		return Place(scope)
	}
	return Place(c.match.Alignment.Of[c.of[run]][scope])
}

// sorted returns the rows of the run.
func (s *carrierSum) sorted() []Carried {
	var rows []Carried
	for row := range maps.Values(s.rows) {
		row.Accesses, row.Cold = row.Histogram.Accesses(), row.Histogram.Cold
		row.Distance = row.Histogram.Mean()
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b Carried) int {
		by := cmp.Or(cmp.Compare(a.Scope, b.Scope), -cmp.Compare(a.Accesses, b.Accesses), cmp.Compare(a.Loop, b.Loop), cmp.Compare(a.Object, b.Object))
		if by != 0 || a.Crosses == b.Crosses {
			return by
		}
		if a.Crosses {
			return 1
		}
		return -1
	})
	return rows
}
