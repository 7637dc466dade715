package sparse

import (
	"fmt"

	"presage/perf/spmv"
)

// EnergyRow is where the energy of a tuned product goes, in nanojoules a flop.
type EnergyRow struct {
	Matrix     string  `frame:"matrix"`
	StandIn    bool    `frame:"stand_in"`
	Objective  string  `frame:"objective"`
	Strategy   string  `frame:"strategy"`
	Search     string  `frame:"search"`
	LineBytes  int     `frame:"line_bytes"`
	DataBytes  int     `frame:"data_bytes"`
	Words      float64 `frame:"memory_words_per_flop"` // of 8 bytes, read and written back
	Memory     float64 `frame:"memory_nj_per_flop"`
	DataCache  float64 `frame:"data_cache_nj_per_flop"`
	InstrCache float64 `frame:"instr_cache_nj_per_flop"`
	Core       float64 `frame:"core_nj_per_flop"` // instructions, clock and leakage
	Leak       float64 `frame:"cache_leakage_nj_per_flop"`
	Total      float64 `frame:"sim_energy_nj_per_flop"`
}

// Breakdown divides the energy of tuned products, by our own energies of caches: the
// sums are those recorded.
func Breakdown(tuned []Tuned, samples []Sample) ([]EnergyRow, error) {
	m := spmv.DefaultMachine()
	return BreakdownBy(tuned, samples, spmv.OwnEnergies(&m))
}

// BreakdownBy divides the energy of tuned products, as energies of caches by another
// table make it. What was tuned remains as it was recorded. Accesses and instructions depend on
// the matrix and the block size alone, and come from the samples of those.
func BreakdownBy(tuned []Tuned, samples []Sample, caches spmv.CacheEnergies) ([]EnergyRow, error) {
	type product struct {
		matrix        string
		rows, columns int
	}
	counts := make(map[product]*Sample)
	for i := range samples {
		s := &samples[i]
		counts[product{s.Matrix, s.BlockRows, s.BlockColumns}] = s
	}
	var rows []EnergyRow
	for i := range tuned {
		t := &tuned[i]
		s := counts[product{t.Matrix, t.BlockRows, t.BlockColumns}]
		if s == nil {
			return nil, fmt.Errorf("perf: spmv: no sample of %s has blocks of %d×%d: record samples and tuning together", t.Matrix, t.BlockRows, t.BlockColumns)
		}
		p, err := t.point()
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: %s: %w", t.Matrix, err)
		}
		e, err := spmv.Recorded{
			Point: p, Accesses: s.Accesses, Instructions: s.Instructions,
			DataMisses: t.Misses, Writebacks: t.Writebacks, Cycles: t.Cycles,
		}.EnergyBy(caches)
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: %s: %w", t.Matrix, err)
		}
		flops := t.Mflops * 1e6 * t.Cycles / spmv.DefaultMachine().Hertz
		each := func(joules float64) float64 { return joules * 1e9 / flops }
		rows = append(rows, EnergyRow{
			Matrix: t.Matrix, StandIn: t.StandIn, Objective: t.Objective, Strategy: t.Strategy, Search: t.Search,
			LineBytes: t.LineBytes, DataBytes: t.DataBytes, Words: e.MemoryWords / flops,
			Memory: each(e.Memory), DataCache: each(e.DataCache), InstrCache: each(e.InstrCache),
			Core: each(e.Core + e.Idle), Leak: each(e.CacheLeak), Total: each(e.Sum()),
		})
	}
	return rows, nil
}
