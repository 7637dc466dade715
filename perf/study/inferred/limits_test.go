package inferred

import (
	"math"
	"testing"

	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// limitsOf returns the limits of a block of eight instructions of a class that is
// executed repeatedly. If chained, each needs the result of the one before. Loads
// advance through memory by stride.
func limitsOf(t *testing.T, class isa.Class, chained bool, stride uint64) map[string]float64 {
	t.Helper()
	var insts []isa.Inst
	for i := range 8 {
		in := isa.Inst{PC: 0x1000 + 4*uint64(i), Len: 4, Class: class}
		in.AddDef(isa.Reg(5 + i))
		source := 2
		if chained {
			source = 5 + (i+7)%8
		}
		in.AddUse(isa.Reg(source))
		if class == isa.Load {
			in.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: in.Uses()[0], Index: isa.NoReg})
		}
		insts = append(insts, in)
	}
	code := [][]isa.Inst{insts}
	plan, err := pipeline.Plan(code)
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, l := range limits() {
		sim, err := pipeline.New(rv64.Target(), plan, code, l.machine(), pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		addr := uint64(1 << 20)
		for range 40 {
			b := &trace.Batch{Blocks: make([]trace.BlockID, 100)}
			for i := range 800 {
				if class == isa.Load {
					b.Accesses = append(b.Accesses, trace.Tag(trace.RefID(i%8), 8)|trace.Access(addr))
					addr += stride
				}
			}
			sim.Observe(b)
		}
		counts := sim.Result().Counts
		values[l.Name] = l.of(&counts) - values[l.less]
	}
	return values
}

// TestLimitsOfKernels checks kernels with a single limit: a chain takes its latencies,
// whatever the window; independent instructions what the window allows; dependent
// misses their full latency, while others overlap in the window.
func TestLimitsOfKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within*want {
			t.Errorf("%s: %g, want %g within %g%%", what, got, want, within*100)
		}
	}
	chain, free := limitsOf(t, isa.ALU, true, 0), limitsOf(t, isa.ALU, false, 0)
	near("a chain, window 64", chain["window64_cpi"], 1, 0.01)
	near("a chain, window 224", chain["window224_cpi"], 1, 0.01)
	if free["window64_cpi"] > 1./16 || free["window224_cpi"] > free["window64_cpi"]/2 {
		t.Errorf("independent instructions: %v", free)
	}
	if free["l1_miss64_cpi"] != 0 || free["l2_misses"] != 0 {
		t.Errorf("instructions without memory: %v", free)
	}
	chase, stream := limitsOf(t, isa.Load, true, 64), limitsOf(t, isa.Load, false, 64)
	near("L2 misses of a chase", chase["l2_misses"], 1, 0.001)
	near("a chase, window 64", chase["l2_miss64_cpi"], l2RefCycles-l1Cycles, 0.01)
	near("a chase, window 224", chase["l2_miss224_cpi"], l2RefCycles-l1Cycles, 0.01)
	near("a chase in L2", chase["l1_miss224_cpi"], l1RefCycles-l1Cycles, 0.01)
	divide := limitsOf(t, isa.FPDivide, false, 0)
	near("divisions, one divider", divide["float_mul_cpi"], 12, 0.01)
	near("divisions, no end of multipliers of another kind", divide["int_mul_cpi"], divide["window224_cpi"], 0.01)
	// A load queue of 11 entries, and of 36.
	near("a stream, window 64", stream["l2_miss64_cpi"], l2RefCycles/11., 0.1)
	near("a stream, window 224", stream["l2_miss224_cpi"], l2RefCycles/36., 0.1)
}

// TestShares checks costs and shares worked out by hand.
func TestShares(t *testing.T) {
	c := placement{
		shard: &Shard{
			Instructions:    1000,
			Characteristics: map[string]float64{"int_alu": 0.3, "control": 0.2, "memory": 0.4, "float_alu": 0.3, "taken": 0.1},
			Limits: map[string]float64{
				"window64_cpi": 0.4, "window224_cpi": 0.2, "branch64_cpi": 0.3, "branch224_cpi": 0.1,
				"int_mul_cpi": 0.02, "float_mul_cpi": 0.1,
				"l1_miss64_cpi": 0.5, "l1_miss224_cpi": 0.1, "l1_misses": 0.1, // 3 of 10 cycles are lost in the middle
				"l2_miss64_cpi": 7.4, "l2_miss224_cpi": 0, "l2_misses": 0.1, // 37 of 148
			},
		},
		misses: map[caches]Misses{ // of 16 KiB, direct mapped, and 256 KiB in two ways
			{"data", 256}: {One: 80}, {"code", 256}: {One: 20}, {"both", 2048}: {Two: 10},
		},
		hardware: map[string]float64{
			"width_instructions": 4, "rob_instructions": math.Sqrt(64 * 224), "l1_ways": 1, "mshrs": 2, "dcache_kib": 16, "icache_kib": 16, "l2_kib": 256,
			"l2_latency_cycles": 10, "int_alus": 1, "int_muls": 1, "float_alus": 1, "float_muls": 2, "ports": 4,
		},
	}
	k := c.costs()
	for _, v := range []struct {
		what      string
		got, want float64
	}{
		{"width", k.width, 0.25},
		{"integer ALUs", k.intALU, 0.5},
		{"integer multiplies", k.intMul, 0.02},
		{"floating-point ALUs", k.floatALU, 0.3},
		{"floating-point multiplies", k.floatMul, 0.05},
		{"ports", k.port, 0.1},
		{"taken branches", k.taken, 0.1},
		{"data flow", k.flow, 0.3},
		{"core", k.core, 0.5},
		{"branches", k.branch, 0.2},
		{"L1 instruction misses", k.l1i, 0.2},
		{"L1 data misses, overlapped", k.l1dOverlapped, 0.8 * 0.3},
		{"L1 data misses, by MSHRs", k.l1dSerial, 0.8 / 2},
		{"L1 data misses", k.l1d(), 0.4},
		{"L2 misses, overlapped", k.l2Overlapped, 1.5 * 0.25},
		{"L2 misses, by MSHRs", k.l2Serial, 1.5 / 2},
		{"L2 misses, one by one", k.l2Alone, 1.5},
		{"L2 misses", k.l2(), 0.75},
		{"sum", k.sum(), 2.05},
	} {
		if math.Abs(v.got-v.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", v.what, v.got, v.want)
		}
	}
	// If the reference caches had no misses, there is no evidence that those of
	// the architecture overlap.
	c.shard.Limits["l1_misses"], c.shard.Limits["l2_misses"] = 0, 0
	if none := c.costs(); math.Abs(none.l1dOverlapped-0.8) > 1e-12 || math.Abs(none.l2Overlapped-1.5) > 1e-12 {
		t.Errorf("without misses to tell: %g and %g, want 0.8 and 1.5", none.l1dOverlapped, none.l2Overlapped)
	}
	// Negative noise counts as 0.
	c.shard.Limits["l1_misses"], c.shard.Limits["l1_miss64_cpi"], c.shard.Limits["l1_miss224_cpi"] = 1, -1, -1
	if k := c.costs(); k.l1dOverlapped != 0 {
		t.Errorf("a negative cost of misses: %g", k.l1dOverlapped)
	}
	values, estimate := c.values(LimitSet, shares())
	if names := Variables(LimitSet); len(values) != len(names) || estimate != c.costs().sum() {
		t.Fatalf("%d values of %d variables, the estimate is %g", len(values), len(names), estimate)
	}
	if total := values[0] + values[1] + values[2] + values[3] + values[4]; math.Abs(total-1) > 1e-12 {
		t.Errorf("shares in the sum add up to %g", total)
	}
	for i, s := range Shares() {
		if values[i] < 0 || values[i] > 1 {
			t.Errorf("%s is %g", s.Name, values[i])
		}
	}
}

// TestSharesAreShares demands shares from 0 to 1 for random costs.
func TestSharesAreShares(t *testing.T) {
	p := inventedProfiles()
	table := p.Table(p.Profiles, LimitSet)
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	for v, s := range Shares() {
		for i, x := range table.Columns[v] {
			if x < 0 || x > 1 {
				t.Fatalf("row %d: %s is %g", i, s.Name, x)
			}
		}
	}
	if got := len(infer.HardwareSpace()) + len(Shares()); got != len(table.Names) {
		t.Errorf("%d variables, %d names", got, len(table.Names))
	}
	if err := Set("everything").Check(); err == nil {
		t.Error("a set that there is not, and no error")
	}
}
