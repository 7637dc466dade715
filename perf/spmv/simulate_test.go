package spmv

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/cache"
	"presage/perf/trace"
)

// list is a collector that keeps all.
type list struct{ accesses []trace.Access }

func (l *list) Observe(b *trace.Batch) { l.accesses = append(l.accesses, b.Accesses...) }

// naiveMisses is a set-associative LRU cache by its definition.
func naiveMisses(accesses []trace.Access, bytes, line, ways int) (misses int) {
	sets := make([][]uint64, bytes/line/ways)
	for _, a := range accesses {
		block := a.Addr() / uint64(line)
		set := &sets[block%uint64(len(sets))]
		at := -1
		for i, b := range *set {
			if b == block {
				at = i
			}
		}
		if at < 0 {
			misses++
			if len(*set) == ways {
				*set = (*set)[1:]
			}
		} else {
			*set = append((*set)[:at:at], (*set)[at+1:]...)
		}
		*set = append(*set, block)
	}
	return misses
}

// mesh is a matrix large enough for the smaller caches.
func mesh(t testing.TB, rng *rand.Rand) *Matrix {
	var entries []Entry
	const n = 1200
	for i := range n {
		for range 1 + rng.IntN(12) {
			j := min(max(i+rng.IntN(600)-300, 0), n-1)
			entries = append(entries, Entry{i, j, 1})
		}
	}
	m, err := NewMatrix(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The number of references by counting loads and stores of the kernel's source.
func TestReferencesAreThoseOfTheKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 20 {
		m := random(t, rng)
		for _, s := range []Shape{{1, 1}, {2, 3}, {8, 8}, {1, 7}} {
			b, err := Block(m, s)
			if err != nil {
				t.Fatal(err)
			}
			var l list
			n := b.References(trace.NewDirect(&l))
			rows, blocks := b.Stored()
			if want := 1 + rows*(1+2*s.R) + blocks*(1+s.C+s.R*s.C); int(n) != want || len(l.accesses) != want {
				t.Fatalf("%v: %d references, %d seen, want %d", s, n, len(l.accesses), want)
			}
			// Each element of each array is where it should be: 8-byte values in
			// order of the blocks, and no access beyond an array's end.
			base := b.layout()
			y, x := b.Lengths()
			ends := [arrays]uint64{4 * uint64(len(b.start)), 4 * uint64(len(b.column)), 8 * uint64(len(b.value)), 8 * uint64(x), 8 * uint64(y)}
			seen := make(map[uint64]bool)
			for _, a := range l.accesses {
				g := Plan().Refs[a.Ref()].Group
				if a.Addr() < base[g] || a.Last() >= base[g]+ends[g] {
					t.Fatalf("%v: array %d is accessed at %#x, it is at %#x and of %d bytes", s, g, a.Addr(), base[g], ends[g])
				}
				if g == ArrayValue {
					seen[a.Addr()] = true
				}
			}
			if len(seen) != len(b.value) {
				t.Fatalf("%v: %d of %d values are loaded", s, len(seen), len(b.value))
			}
		}
	}
}

func TestSimulateMatchesNaiveCaches(t *testing.T) {
	m := mesh(t, rand.New(rand.NewPCG(13, 14)))
	sim, err := NewSimulator(m)
	if err != nil {
		t.Fatal(err)
	}
	var hardware []Hardware
	for _, p := range Sample(40, 3) {
		p.Hardware.DataPolicy = cache.LRU
		hardware = append(hardware, p.Hardware)
	}
	for _, s := range []Shape{{1, 1}, {3, 2}, {4, 8}} {
		out, err := sim.Simulate(context.Background(), s, hardware)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		var l list
		b.References(trace.NewDirect(&l))
		for i, h := range hardware {
			if want := naiveMisses(l.accesses, h.DataBytes, h.LineBytes, h.DataWays); int(out[i].DataMisses) != want {
				t.Fatalf("%v on %v: %g misses, want %d", s, h, out[i].DataMisses, want)
			}
			sum := 0.0
			for _, n := range out[i].ArrayMisses {
				sum += n
			}
			if sum != out[i].DataMisses {
				t.Errorf("%v: misses of the arrays add up to %g of %g", s, sum, out[i].DataMisses)
			}
		}
	}
}

// Time and energy by hand, for counts that are given.
func TestEvaluate(t *testing.T) {
	h := Baseline()
	s := &Simulator{
		Machine: Machine{
			Hertz: 1e8, MemoryCycles: 10, CyclesPerWord: 3,
			JoulesPerWord: 6e-9, JoulesPerInstruction: 1e-9, IdleWatts: 0.1,
		},
		costs: make([]Cost, MaxBlock*MaxBlock),
	}
	shape := Shape{2, 3}
	s.costs[shape.index()] = Cost{
		Shape: shape, CallCycles: 7, RowCycles: 5, BlockCycles: 11, CallInstructions: 3, RowInstructions: 2, BlockInstructions: 9,
		CodeAddress: 60, CodeBytes: 70, // bytes 60 to 129: lines 1 to 4 of 32 bytes
	}
	o := Outcome{Point: Point{shape, h}, Rows: 10, Blocks: 20, NonZeros: 60, Accesses: 500, DataMisses: 40, Writebacks: 5}
	s.Evaluate(&o)
	cycles := 7.0 + 50 + 220 + (40+4)*(10+4*3) + 5*4*3
	if o.InstrMisses != 4 || o.Cycles != cycles || o.Seconds != cycles/1e8 || o.FillRatio != 2 || o.Flops != 120 {
		t.Errorf("%+v, want %g cycles, 4 instruction misses, fill 2, 120 flops", o, cycles)
	}
	instructions := 3.0 + 20 + 180
	data, instr := AccessJoules(h.DataBytes, 32, 2), AccessJoules(h.InstrBytes, 32, 2)
	joules := (45+4)*4*6e-9 + 500*data + 45*LineJoules(h.DataBytes, 32) + instructions*instr + 4*LineJoules(h.InstrBytes, 32) +
		instructions*1e-9 + 0.1*cycles/1e8
	if math.Abs(o.Joules/joules-1) > 1e-12 || math.Abs(o.Watts-o.Joules/o.Seconds) > 1e-12*o.Watts || math.Abs(o.Mflops-120/o.Seconds/1e6) > 1e-9 {
		t.Errorf("%g J, want %g; %g W, %g Mflop/s", o.Joules, joules, o.Watts, o.Mflops)
	}
}

// An access costs more in a larger cache, with more ways, and a line's transfer
// more than an access's word; within what 90 nm caches of a few kilobytes take.
func TestEnergyLaws(t *testing.T) {
	for _, line := range lineLevels {
		for _, ways := range wayLevels {
			last := 0.0
			for _, bytes := range dataLevels {
				e := AccessJoules(bytes, line, ways)
				if e <= last {
					t.Errorf("%d bytes, %d-byte lines, %d ways: %g J, no more than half the size's %g", bytes, line, ways, e, last)
				}
				if ways > 1 && e <= AccessJoules(bytes, line, ways/2) {
					t.Errorf("%d bytes, %d ways: %g J, no more than with half the ways", bytes, ways, e)
				}
				if e < 2e-12 || e > 500e-12 {
					t.Errorf("%d bytes, %d ways: %g J an access: not of the order of tens of pJ", bytes, ways, e)
				}
				last = e
			}
		}
	}
	if one, two := LineJoules(8<<10, 32), LineJoules(8<<10, 64); two < 1.5*one {
		t.Errorf("a line of 64 bytes takes %g J, one of 32 %g", two, one)
	}
}

func TestSampleIsInTable5(t *testing.T) {
	points := Sample(2000, 7)
	again := Sample(2000, 7)
	shapes := make(map[Shape]int)
	for i, p := range points {
		if err := p.Hardware.Check(); err != nil {
			t.Fatal(err)
		}
		if p != again[i] {
			t.Fatal("the same seed gives other points")
		}
		shapes[p.Shape]++
	}
	if len(shapes) != 64 {
		t.Errorf("2000 points have %d of 64 shapes", len(shapes))
	}
	n := 0
	AllHardware(func(h Hardware) {
		n++
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 4*7*4*3*7*4*3 { // 2012, Table 5
		t.Errorf("%d caches, want 28224", n)
	}
	bad := Baseline()
	bad.DataWays = 3
	if bad.Check() == nil {
		t.Error("3 ways are accepted")
	}
}

func TestCostsAreWhole(t *testing.T) {
	all, err := Costs()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range all {
		s := Shapes()[i]
		// R·C values and C elements of x are loaded, R·C products added.
		if least := float64(2*s.R*s.C + s.C + 1); c.BlockInstructions < least || c.BlockCycles < c.BlockInstructions {
			t.Errorf("%v: %g instructions and %g cycles a block, want at least %g", s, c.BlockInstructions, c.BlockCycles, least)
		}
		if c.CodeBytes > instrLevels[0] {
			t.Errorf("%v: %d bytes of code do not fit in the smallest instruction cache", s, c.CodeBytes)
		}
	}
	if again, err := readCosts(WriteCosts(all)); err != nil || len(again) != len(all) || again[9] != all[9] {
		t.Errorf("costs do not read back: %v", err)
	}
	for _, bad := range []string{"", "block_rows\n", costsCSV + "1,2\n"} {
		if _, err := readCosts(bad); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
}
