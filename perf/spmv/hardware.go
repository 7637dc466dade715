package spmv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"presage/perf/cache"
)

// Hardware is a point of the space of caches (2012, Table 5, y1 to y7). Both
// caches have the same line size.
type Hardware struct {
	LineBytes   int // 16 to 128
	DataBytes   int // 4 KiB to 256 KiB
	DataWays    int // 1 to 8
	DataPolicy  cache.Replacement
	InstrBytes  int // 2 KiB to 128 KiB
	InstrWays   int // 1 to 8
	InstrPolicy cache.Replacement
}

// The levels of Table 5.
var (
	lineLevels   = []int{16, 32, 64, 128}
	dataLevels   = []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10}
	instrLevels  = []int{2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10}
	wayLevels    = []int{1, 2, 4, 8}
	policyLevels = []cache.Replacement{cache.LRU, cache.NMRU, cache.Random}
)

// Baseline is the starting point of tuning: the middle of each range of Table
// 5, rounded down if there are two, and LRU. The paper does not name its own.
func Baseline() Hardware {
	return Hardware{
		LineBytes: 32,
		DataBytes: 32 << 10, DataWays: 2, DataPolicy: cache.LRU,
		InstrBytes: 16 << 10, InstrWays: 2, InstrPolicy: cache.LRU,
	}
}

func (h Hardware) String() string {
	return fmt.Sprintf("%d B lines, data %d KiB %d-way %v, instructions %d KiB %d-way %v", h.LineBytes,
		h.DataBytes>>10, h.DataWays, h.DataPolicy, h.InstrBytes>>10, h.InstrWays, h.InstrPolicy)
}

// sameInstr reports whether the instruction caches are equal except for their
// lines.
func (h Hardware) sameInstr(o Hardware) bool {
	return h.InstrBytes == o.InstrBytes && h.InstrWays == o.InstrWays && h.InstrPolicy == o.InstrPolicy
}

// Check returns an error if h is not in Table 5.
func (h Hardware) Check() error {
	for _, p := range []struct {
		what   string
		value  int
		levels []int
	}{
		{"line size", h.LineBytes, lineLevels},
		{"data cache size", h.DataBytes, dataLevels},
		{"data cache ways", h.DataWays, wayLevels},
		{"instruction cache size", h.InstrBytes, instrLevels},
		{"instruction cache ways", h.InstrWays, wayLevels},
	} {
		ok := false
		for _, l := range p.levels {
			ok = ok || p.value == l
		}
		if !ok {
			return fmt.Errorf("spmv: %s %d: want one of %s", p.what, p.value, strings.Trim(fmt.Sprint(p.levels), "[]"))
		}
	}
	if !slices.Contains(policyLevels, h.DataPolicy) || !slices.Contains(policyLevels, h.InstrPolicy) {
		return fmt.Errorf("spmv: replacement policies %v and %v: want one of %v", h.DataPolicy, h.InstrPolicy, policyLevels)
	}
	return nil
}

// Point is a point of the joint space: a block size and the caches.
type Point struct {
	Shape    Shape
	Hardware Hardware
}

// Sample draws n points uniformly, each parameter by itself. The same seed gives
// the same points.
func Sample(n int, seed uint64) []Point {
	rng := rand.New(rand.NewPCG(seed, 0x7ab1e5))
	pick := func(levels []int) int { return levels[rng.IntN(len(levels))] }
	policy := func() cache.Replacement { return policyLevels[rng.IntN(len(policyLevels))] }
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{
			Shape: Shape{1 + rng.IntN(MaxBlock), 1 + rng.IntN(MaxBlock)},
			Hardware: Hardware{
				LineBytes: pick(lineLevels),
				DataBytes: pick(dataLevels), DataWays: pick(wayLevels), DataPolicy: policy(),
				InstrBytes: pick(instrLevels), InstrWays: pick(wayLevels), InstrPolicy: policy(),
			},
		}
	}
	return points
}

// AllHardware calls f with every point of Table 5's caches.
func AllHardware(f func(Hardware)) {
	for _, line := range lineLevels {
		eachCache(dataLevels, func(db, dw int, dp cache.Replacement) {
			eachCache(instrLevels, func(ib, iw int, ip cache.Replacement) {
				f(Hardware{line, db, dw, dp, ib, iw, ip})
			})
		})
	}
}

// eachCache calls f with every cache of the given sizes in bytes.
func eachCache(sizes []int, f func(bytes, ways int, policy cache.Replacement)) {
	for _, bytes := range sizes {
		for _, ways := range wayLevels {
			for _, policy := range policyLevels {
				f(bytes, ways, policy)
			}
		}
	}
}

// Machine is the fixed part of the hardware: a core that issues one instruction
// per cycle, in order, and waits for each miss (2012, section 5.3: a 400 MHz
// Tensilica Xtensa). The zero Machine is DefaultMachine.
type Machine struct {
	Hertz         float64
	MemoryCycles  float64 // from a miss to the first 8 bytes
	CyclesPerWord float64 // to transfer 8 bytes, of a line read or written back

	JoulesPerWord        float64 // that memory and its bus take for 8 bytes
	JoulesPerInstruction float64 // of the core, without caches
	IdleWatts            float64 // of the core: clock and leakage
	LeakWattsPerByte     float64 // of cache
}

// DefaultMachine returns the machine of the study. The frequency and the 6 nJ
// are the paper's (2012, section 5.3). It gives no latency, bandwidth or core
// power. Assumed here: memory that answers after 100 ns, like SDRAM of that
// time behind an on-chip controller, on a bus of 8 bytes at 200 MHz; a core of
// 30 mW and 100 pJ per instruction, a tenth of a watt at full speed; leakage of
// 0.05 mW per KiB.
func DefaultMachine() Machine {
	return Machine{
		Hertz:         400e6,
		MemoryCycles:  40,
		CyclesPerWord: 2,

		JoulesPerWord:        6e-9,
		JoulesPerInstruction: 100e-12,
		IdleWatts:            30e-3,
		LeakWattsPerByte:     0.05e-3 / 1024,
	}
}
