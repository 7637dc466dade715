package sparse_test

import (
	"math"
	"strings"
	"testing"

	"presage/perf/spmv"
	"presage/perf/study/sparse"
)

// The parts of the energy add up to what was recorded of each tuned product, and the
// memory's is 6 nJ a word (2012, section 5.3).
func TestBreakdownAddsUp(t *testing.T) {
	f, err := sparse.Load("../../../datasets/spmv", sparse.SamplesPart, sparse.TuningPart)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sparse.Breakdown(f.Tuning, f.Samples)
	if err != nil || len(rows) != len(f.Tuning) {
		t.Fatalf("%d rows of %d, %v", len(rows), len(f.Tuning), err)
	}
	for i, r := range rows {
		want := f.Tuning[i].EnergyFlop
		parts := r.Memory + r.DataCache + r.InstrCache + r.Core + r.Leak
		if math.Abs(r.Total/want-1) > 1e-9 || math.Abs(parts/want-1) > 1e-9 {
			t.Errorf("%s, %s for %s: parts of %g nJ a flop, %g in all, recorded %g", r.Matrix, r.Strategy, r.Objective, parts, r.Total, want)
		}
		if math.Abs(r.Memory-6*r.Words) > 1e-9*r.Memory {
			t.Errorf("%s: %g nJ for %g words", r.Matrix, r.Memory, r.Words)
		}
		// A product moves each value once at least, and a column index a block: two
		// operations an entry.
		blocks := float64(f.Tuning[i].BlockRows * f.Tuning[i].BlockColumns)
		if r.Words < (8+4/blocks)/8/2 {
			t.Errorf("%s, %s: %g words a flop, less than the matrix itself", r.Matrix, r.Strategy, r.Words)
		}
	}
	if _, err := sparse.Breakdown(f.Tuning, nil); err == nil || !strings.Contains(err.Error(), "record samples and tuning together") {
		t.Errorf("without samples: %v", err)
	}
}

// By a published table memory, core and what was tuned remain, and only the caches take
// another share.
func TestBreakdownByAPublishedTable(t *testing.T) {
	f, err := sparse.Load("../../../datasets/spmv", sparse.SamplesPart, sparse.TuningPart)
	if err != nil {
		t.Fatal(err)
	}
	table, err := spmv.ReadEnergyTable("../../../datasets/spmv/energy-sram-90nm.csv")
	if err != nil {
		t.Fatal(err)
	}
	own, err := sparse.Breakdown(f.Tuning, f.Samples)
	if err != nil {
		t.Fatal(err)
	}
	published, err := sparse.BreakdownBy(f.Tuning, f.Samples, table)
	if err != nil || len(published) != len(own) {
		t.Fatalf("%d rows of %d, %v", len(published), len(own), err)
	}
	for i, p := range published {
		o := own[i]
		if p.Memory != o.Memory || p.Core != o.Core || p.Words != o.Words || p.Strategy != o.Strategy {
			t.Errorf("%s, %s: %+v, own %+v", p.Matrix, p.Strategy, p, o)
		}
		if parts := p.Memory + p.DataCache + p.InstrCache + p.Core + p.Leak; math.Abs(p.Total/parts-1) > 1e-12 {
			t.Errorf("%s, %s: parts of %g nJ, %g in all", p.Matrix, p.Strategy, parts, p.Total)
		}
		if !(p.Leak > 5*o.Leak) {
			t.Errorf("%s, %s: leakage of %g nJ, own %g: the table's is some ten times ours", p.Matrix, p.Strategy, p.Leak, o.Leak)
		}
	}
}
