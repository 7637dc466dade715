package locality

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"presage/perf/allocation"
	"presage/perf/anatomy"
	"presage/perf/internal/num"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
)

// Runs are the profiles of one program at several points: of one executable,
// or of several that were compiled for a point each.
type Runs struct {
	Name     string // of the program, in tables
	Runs     []Run  // in the order of the points asked for
	Warnings []string

	shared *SharedGroups // the groups that the runs have in common
}

// Run is the profile of one run.
type Run struct {
	Program      *subject.Program // that was run
	Point        subject.Point
	Args         []string
	Instructions uint64 // executed by the program, its threads together
	Accesses     uint64 // recorded executions of memory references
	Stack        uint64 // executions that were not recorded, being traffic of the stack
	HeapPeak     uint64 // most bytes of heap that brk gave; 0 in profiles of earlier versions
	Mappings     uint64 // of memory, that the program made by itself; likewise
	Processes    int    // that the program started, which are not recorded
	Stdout       string // the end of what the program printed

	// Reuse holds the histograms for each block size, by ascending size.
	Reuse []*reuse.Result

	Recorded Recorded
	warnings []string
}

// Recorded is everything that a run's histograms depend on.
type Recorded struct {
	Inputs subject.Inputs
	Plan   string // digest of what was recorded
	Stack  bool   // the traffic of the stack, too: not ProfileOptions.DataOnly

	// Of ProfileOptions; 0 where all blocks were looked at.
	SampleOneIn uint64 `json:",omitempty"`
	SampleSeed  uint64 `json:",omitempty"`
	// SampleEvenly is true if larger blocks were sampled more.
	SampleEvenly bool `json:",omitempty"`

	// Carriers is the version of what ProfileOptions.Carriers collects; 0 without.
	Carriers int `json:",omitempty"`
	// Loops is the version of what FurtherOptions.Loops collects; 0 without.
	Loops int `json:",omitempty"`

	// Memory is true if, with Carriers, objects follow the changes of memory, and
	// Allocation the version of how these name objects then.
	Memory     bool `json:",omitempty"`
	Allocation int  `json:",omitempty"`
}

// follow has objects follow the changes of memory if the engine tells of them.
func (rec *Recorded) follow(prog *subject.Program) (err error) {
	if rec.Memory, err = prog.TellsMemory(); rec.Memory {
		rec.Allocation = allocation.Version
	}
	return err
}

// evenly is the block size, in bytes, from which on ProfileOptions.SampleEvenly
// samples more.
const evenly = 64

// oneIn returns the reciprocal of the rate at which blocks of a size are sampled.
func (rec *Recorded) oneIn(blockBytes uint64) uint64 {
	if !rec.SampleEvenly || blockBytes <= evenly {
		return rec.SampleOneIn
	}
	return max(1, rec.SampleOneIn*evenly/blockBytes)
}

// newRun returns a run of which the store holds the histograms of each size.
func newRun(prog *subject.Program, point subject.Point, rec Recorded, sizes []uint64, found map[uint64]*storedReuse) Run {
	run := Run{Program: prog, Point: point, Recorded: rec}
	for _, size := range sizes {
		run.Reuse = append(run.Reuse, found[size].Result)
	}
	facts := found[sizes[0]].Facts
	run.Args, run.Instructions, run.Accesses, run.Stdout = facts.Args, facts.Instructions, facts.Accesses, facts.Stdout
	run.HeapPeak, run.Mappings, run.Processes = facts.HeapPeak, facts.Mappings, facts.Processes
	run.Stack, run.warnings = found[sizes[0]].Stack, facts.Warnings
	return run
}

// BlockBytes returns the block sizes that the runs have in common.
func (r *Runs) BlockBytes() []uint64 {
	var sizes []uint64
	if len(r.Runs) > 0 {
		for _, res := range r.Runs[0].Reuse {
			sizes = append(sizes, res.BlockBytes)
		}
	}
	return sizes
}

// At returns the histograms of a run for a block size.
func (r *Run) At(blockBytes uint64) (*reuse.Result, error) {
	var have []uint64
	for _, res := range r.Reuse {
		if res.BlockBytes == blockBytes {
			return res, nil
		}
		have = append(have, res.BlockBytes)
	}
	return nil, fmt.Errorf("perf: no reuse distances for blocks of %d bytes; the runs have %v", blockBytes, have)
}

// LeftOut says how much of the accesses the profiles lack, being traffic of the
// stack; it is empty if they have all. Simulations have all.
func (r *Runs) LeftOut() string {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		run := &r.Runs[i]
		if run.Recorded.Stack {
			continue
		}
		share := num.Ratio(float64(run.Stack), float64(run.Stack+run.Accesses))
		return fmt.Sprintf("profiled without the traffic of the stack, %s of the accesses at %s, which simulations have", num.Percent(share), run.Point)
	}
	return ""
}

// Unrecorded says that the program started processes in the runs, which the profiles
// lack; it is empty if it did not. Simulations lack them, too.
func (r *Runs) Unrecorded() string {
	if len(r.Runs) == 0 {
		return ""
	}
	byProcesses := func(a, b Run) int { return cmp.Compare(a.Processes, b.Processes) }
	few, many := slices.MinFunc(r.Runs, byProcesses), slices.MaxFunc(r.Runs, byProcesses)
	switch {
	case many.Processes == 0:
		return ""
	case few.Processes == many.Processes:
		return fmt.Sprintf("processes that the program started are not recorded, %d in each run: what they did is not predicted", many.Processes)
	}
	return fmt.Sprintf("processes that the program started are not recorded, %d at %s and %d at %s: what they did is not predicted", few.Processes, few.Point, many.Processes, many.Point)
}

// RunRow sums up a run.
type RunRow struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Instructions uint64             `frame:"instructions"`    // executed
	Accesses     uint64             `frame:"accesses"`        // executions of memory references that were recorded
	Stack        uint64             `frame:"stack_accesses"`  // those that were left out, as traffic of the stack
	Footprint    uint64             `frame:"footprint_bytes"` // distinct memory touched, in blocks of the smallest size
}

// Rows returns a row for each run.
func (r *Runs) Rows() []RunRow {
	var rows []RunRow
	for _, run := range r.Runs {
		rows = append(rows, RunRow{
			r.Label(), run.Point, run.Instructions, run.Accesses, run.Stack,
			run.Reuse[0].Blocks * run.Reuse[0].BlockBytes,
		})
	}
	return rows
}

// Count counts the blocks and edges of a run like the one that was profiled, as
// anatomy.Count does; a nil store is the default one. It returns an error if files
// that the program reads, or its libraries, have changed since.
func (r *Run) Count(ctx context.Context, st *store.Store) (*anatomy.Counts, error) {
	was := r.Recorded.Inputs
	opt := was.Options()
	opt.Store = st
	in, err := r.Program.InputsOf(was.Args, opt)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(in.Files, was.Files) {
		return nil, fmt.Errorf("perf: %s: files that the program reads have changed since it was profiled; profile again", r.Point)
	}
	counts, err := anatomy.CountInputs(ctx, r.Program, in, opt)
	if err != nil {
		return nil, err
	}
	if counts.Program.File.SHA256 != r.Program.File.SHA256 {
		return nil, fmt.Errorf("perf: %s: shared libraries that the program loads have changed since it was profiled; profile again", r.Point)
	}
	counts.Point = r.Point
	return counts, nil
}
