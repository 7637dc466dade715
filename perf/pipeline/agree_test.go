package pipeline_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

// randomScript makes a program of a few blocks and a walk through it.
func randomScript(tb testing.TB, rng *rand.Rand, classes []isa.Class, length int, addrs func() uint64) *script {
	blocks := make([][]isa.Inst, 2+rng.IntN(6))
	to := make(map[int]int)
	registers := 2 + rng.IntN(8)
	reg := func(float bool) isa.Reg {
		r := isa.Reg(5 + rng.IntN(registers))
		if float {
			r += isa.F0
		}
		return r
	}
	for b := range blocks {
		for range 1 + rng.IntN(8) {
			class := classes[rng.IntN(len(classes))]
			switch class {
			case isa.Load:
				blocks[b] = append(blocks[b], in(class, reg(false), reg(false)))
			case isa.FPLoad:
				blocks[b] = append(blocks[b], in(class, reg(true), reg(false)))
			case isa.Store:
				blocks[b] = append(blocks[b], in(class, none, reg(false), reg(false)))
			case isa.FPStore:
				blocks[b] = append(blocks[b], in(class, none, reg(false), reg(true)))
			case isa.Atomic:
				blocks[b] = append(blocks[b], in(class, reg(false), reg(false), reg(false)))
			case isa.FPAdd, isa.FPFused, isa.FPDivide:
				blocks[b] = append(blocks[b], in(class, reg(true), reg(true), reg(true)))
			case isa.Nop, isa.Fence:
				blocks[b] = append(blocks[b], in(class, none))
			default:
				blocks[b] = append(blocks[b], in(class, reg(false), reg(false), reg(false)))
			}
		}
		for i := range blocks[b] {
			if blocks[b][i].Accesses() {
				m := &blocks[b][i].Mems()[0]
				m.Size = 1 << rng.IntN(4)
			}
		}
		switch end := rng.IntN(6); {
		case b == len(blocks)-1 || end == 0:
			blocks[b] = append(blocks[b], in(isa.Jump, none))
			to[b] = rng.IntN(len(blocks))
		case end <= 3:
			blocks[b] = append(blocks[b], in(isa.Branch, none, reg(false)))
			to[b] = rng.IntN(len(blocks))
		case end == 4:
			blocks[b] = append(blocks[b], in(isa.IndirectJump, none, reg(false)))
		}
	}
	s := place(tb, to, blocks...)
	at := 0
	for n := 0; n < length; n += len(s.code[at]) {
		var list []uint64
		for range s.code[at] {
			list = append(list, addrs())
		}
		last := &s.code[at][len(s.code[at])-1]
		s.run(at, list...)
		switch {
		case last.Class == isa.IndirectJump:
			at = rng.IntN(len(blocks))
		case last.Class == isa.Jump || last.Class == isa.Branch && rng.IntN(3) > 0:
			at = to[at]
		default:
			at++
		}
	}
	return s
}

// some returns 0, no limit, or a number from lo to hi.
func some(rng *rand.Rand, lo, hi int) int {
	if rng.IntN(3) == 0 {
		return 0
	}
	return lo + rng.IntN(hi-lo+1)
}

func randomConfig(rng *rand.Rand, pipelined bool) pipeline.Config {
	c := pipeline.Config{
		InOrder:     rng.IntN(3) == 0,
		FetchWidth:  some(rng, 1, 4),
		FetchBuffer: some(rng, 1, 8), TakenPerCycle: some(rng, 1, 2),
		DispatchWidth: some(rng, 1, 4), IssueWidth: some(rng, 1, 4), RetireWidth: some(rng, 1, 4),
		Window: 1 + rng.IntN(40), LoadQueue: some(rng, 1, 8), StoreQueue: some(rng, 1, 8),
		IntRegisters: some(rng, 33, 48), FloatRegisters: some(rng, 33, 40),
		Units: []pipeline.Unit{{Name: "a", Count: 1 + rng.IntN(2)}, {Name: "b", Count: 1}, {Name: "c", Count: 1 + rng.IntN(3)}},
		Branch: pipeline.Branch{
			Predictor: pipeline.Predictor(rng.IntN(4)), Entries: 1 << rng.IntN(6), HistoryBits: rng.IntN(5),
			Penalty: rng.IntN(8), ReturnStack: some(rng, 1, 3), Targets: some(rng, 1, 4),
		},
		Memory: pipeline.Memory{
			Ports: some(rng, 1, 2), StoresPerCycle: some(rng, 1, 2), ForwardLatency: some(rng, 1, 6), Conservative: rng.IntN(2) == 0,
		},
	}
	if rng.IntN(3) == 0 {
		c.Branch.TakenBubble = 1 + rng.IntN(2)
	}
	c.OrderedCompletion = c.InOrder && rng.IntN(2) == 0
	c.Timings = make(map[isa.Class]pipeline.Timing)
	names := []string{"a", "b", "c"}
	queues := make([]pipeline.Queue, 2)
	for i := range queues {
		queues[i] = pipeline.Queue{Name: names[i], Entries: 1 + rng.IntN(8)}
	}
	for _, class := range isa.Classes() {
		t := pipeline.Timing{Latency: 1 + rng.IntN(6), Serializes: class == isa.Fence}
		cycles := 1
		if !pipelined && rng.IntN(3) == 0 {
			cycles = 1 + rng.IntN(6)
		}
		switch rng.IntN(4) {
		case 0:
			t.Uses = []pipeline.Use{{AnyOf: names[:1+rng.IntN(3)], Cycles: cycles}}
		case 1:
			t.Uses = []pipeline.Use{{AnyOf: names[rng.IntN(3):], Cycles: cycles}}
		case 2:
			t.Uses = []pipeline.Use{{AnyOf: []string{"a", "c"}, Cycles: 1}, {AnyOf: []string{"b", "c"}, Cycles: cycles}}
		}
		c.Timings[class] = t
		if k := rng.IntN(3); k < 2 {
			queues[k].Classes = append(queues[k].Classes, class)
		}
	}
	if rng.IntN(3) > 0 {
		c.Queues = queues
	}
	return c
}

var manyClasses = []isa.Class{
	isa.ALU, isa.ALU, isa.ALU, isa.Multiply, isa.Divide, isa.Load, isa.Load, isa.Store, isa.FPLoad, isa.FPStore,
	isa.FPAdd, isa.FPFused, isa.FPDivide, isa.Nop, isa.Atomic, isa.Fence,
}

// TestAgreesWithCycleByCycle demands exact agreement with pipelined units and no
// caches: there, allocating resources in program order equals always issuing the
// oldest ready instructions.
func TestAgreesWithCycleByCycle(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := randomConfig(rng, true)
		s := randomScript(t, rng, manyClasses, 20+rng.IntN(100), func() uint64 { return 0x100 + rng.Uint64N(48) })
		got := s.simulate(t, c)
		want := newReference(&c, s).run()
		if got.Cycles != uint64(want) {
			t.Fatalf("seed %d: %d cycles, %d cycle by cycle (in order %v)", seed, got.Cycles, want, c.InOrder)
		}
	}
}

// TestUnitsOverLongTimes demands that reservations survive the growth of the table
// of units.
func TestUnitsOverLongTimes(t *testing.T) {
	c := ideal()
	c.Units = []pipeline.Unit{{Name: "unit", Count: 1}}
	c.Timings = timings(func(class isa.Class) []string {
		if class == isa.ALU {
			return []string{"unit"}
		}
		return nil
	}, func(class isa.Class) int {
		return map[isa.Class]int{isa.ALU: 1, isa.Multiply: 900, isa.Divide: 1500, isa.FPSqrt: 1000}[class]
	})
	s := place(t, nil, []isa.Inst{
		in(isa.Multiply, 5), in(isa.Divide, 6),
		in(isa.ALU, 7, 5),           // in cycle 900
		in(isa.ALU, 8, 6),           // 1500
		in(isa.ALU, 9, 5),           // 901: 900 is taken
		in(isa.FPSqrt, isa.F0+1, 9), // 902 to 1902, in which it retires
	})
	s.run(0)
	if got := s.simulate(t, c).Cycles; got != 1903 {
		t.Errorf("%d cycles, want 1903", got)
	}
}

// smallMemory has a first level that short runs fill, and not much else.
func smallMemory(rng *rand.Rand) pipeline.Memory {
	return pipeline.Memory{
		Levels:  []pipeline.Level{{Name: "L1", Blocks: 64, BlockBytes: 16, Ways: 4, Latency: 2, MSHRs: some(rng, 1, 4)}},
		Latency: 10 + rng.IntN(60), Interval: some(rng, 1, 6), ForwardLatency: 3, Ports: some(rng, 1, 2), Conservative: rng.IntN(2) == 0,
	}
}

// Where program order differs from order in time, the single pass may give a
// resource to an older instruction that a processor would give to a younger one
// that is ready earlier. The resulting relative difference in cycles was at most
// 0.20 for a run of some hundred instructions, and 0.003 for many such runs
// together, when this was written; these bounds leave room for other seeds.
const (
	runTolerance   = 0.25
	totalTolerance = 0.01
)

func TestAgreesWithCycleByCycleInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range []struct {
		name               string
		inOrder, pipelined bool
		memory             bool
		exact              bool
	}{
		{name: "in order, caches", inOrder: true, pipelined: true, memory: true, exact: true},
		{name: "in order, caches, units busy for long", inOrder: true, memory: true, exact: true},
		{name: "out of order, units busy for long"},
		{name: "out of order, caches", pipelined: true, memory: true},
		{name: "out of order, caches, units busy for long", memory: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sum, want := 0, 0
			for seed := range uint64(150) {
				rng := rand.New(rand.NewPCG(seed, 2))
				config := randomConfig(rng, c.pipelined)
				config.InOrder = c.inOrder
				config.OrderedCompletion = config.OrderedCompletion && c.inOrder
				span := uint64(48)
				if c.memory {
					config.Memory, span = smallMemory(rng), 4096
				}
				s := randomScript(t, rng, manyClasses, 200+rng.IntN(200), func() uint64 { return 0x100 + rng.Uint64N(span) })
				a, b := int(s.simulate(t, config).Cycles), newReference(&config, s).run()
				if rel := float64(a-b) / float64(b); c.exact && a != b || math.Abs(rel) > runTolerance {
					t.Errorf("seed %d: %d cycles, %d cycle by cycle: %+.3f", seed, a, b, rel)
				}
				sum += a
				want += b
			}
			rel := float64(sum-want) / float64(want)
			if math.Abs(rel) > totalTolerance {
				t.Errorf("%d cycles in all, %d cycle by cycle: %+.4f", sum, want, rel)
			}
			t.Logf("%+.4f", rel)
		})
	}
}
