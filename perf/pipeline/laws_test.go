package pipeline_test

import (
	"math/rand/v2"
	"testing"

	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// anomaly is the share by which cycles may increase when a resource grows: issuing
// the oldest ready instruction first is not optimal, and the order of accesses to a
// cache differs from program order.
const anomaly = 0.03

// mixed makes a run of a random program over a working set, long enough that
// single anomalies do not show.
func mixed(tb testing.TB, seed uint64) *script {
	rng := rand.New(rand.NewPCG(seed, 9))
	classes := append([]isa.Class{isa.FPLoad, isa.Load, isa.FPMultiply, isa.Shift}, manyClasses[:len(manyClasses)-1]...)
	at := uint64(0)
	return randomScript(tb, rng, classes, 20_000, func() uint64 {
		if rng.IntN(4) > 0 {
			at += 8
			return 0x100000 + at&0xffff8
		}
		return 0x100000 + rng.Uint64N(1<<17)&^7
	})
}

// law is a change to a core that cannot make it slower.
type law struct {
	name   string
	better func(c *pipeline.Config)
}

var laws = []law{
	{"fetch width", func(c *pipeline.Config) { c.FetchWidth *= 2 }},
	{"dispatch width", func(c *pipeline.Config) { c.DispatchWidth *= 2 }},
	{"issue width", func(c *pipeline.Config) { c.IssueWidth *= 2 }},
	{"retire width", func(c *pipeline.Config) { c.RetireWidth *= 2 }},
	{"fetch buffer", func(c *pipeline.Config) { c.FetchBuffer *= 2 }},
	{"window", func(c *pipeline.Config) { c.Window *= 2 }},
	{"queues", func(c *pipeline.Config) {
		c.Queues = append([]pipeline.Queue(nil), c.Queues...)
		for i := range c.Queues {
			c.Queues[i].Entries *= 2
		}
	}},
	{"load queue", func(c *pipeline.Config) { c.LoadQueue *= 2 }},
	{"store queue", func(c *pipeline.Config) { c.StoreQueue *= 2 }},
	{"registers", func(c *pipeline.Config) { c.IntRegisters += 20; c.FloatRegisters += 20 }},
	{"units", func(c *pipeline.Config) {
		c.Units = append([]pipeline.Unit(nil), c.Units...)
		for i := range c.Units {
			c.Units[i].Count++
		}
	}},
	{"latencies", func(c *pipeline.Config) {
		c.Timings = timings(ports, func(class isa.Class) int { return (latencies(class) + 1) / 2 })
	}},
	{"prediction", func(c *pipeline.Config) { c.Branch.Predictor = pipeline.Perfect }},
	{"penalty", func(c *pipeline.Config) { c.Branch.Penalty /= 2 }},
	{"taken branches", func(c *pipeline.Config) { c.TakenPerCycle = 2 }},
	{"instruction cache", func(c *pipeline.Config) { c.ICache = pipeline.ICache{} }},
	{"cache latency", func(c *pipeline.Config) { relevel(c, func(l *pipeline.Level) { l.Latency = l.Latency*3/4 + 1 }) }},
	{"cache size", func(c *pipeline.Config) { relevel(c, func(l *pipeline.Level) { l.Blocks *= 4; l.Ways *= 4 }) }},
	{"MSHRs", func(c *pipeline.Config) { relevel(c, func(l *pipeline.Level) { l.MSHRs *= 2 }) }},
	{"memory latency", func(c *pipeline.Config) { c.Memory.Latency /= 2 }},
	{"bandwidth", func(c *pipeline.Config) { c.Memory.Interval /= 2; c.Memory.WriteInterval /= 2 }},
	{"ports", func(c *pipeline.Config) { c.Memory.Ports++ }},
	{"TLB", func(c *pipeline.Config) { c.Memory.TLBs = nil }},
	{"disambiguation", func(c *pipeline.Config) { c.Memory.Conservative = false }},
	{"forwarding", func(c *pipeline.Config) { c.Memory.ForwardLatency = 1 }},
}

func relevel(c *pipeline.Config, f func(*pipeline.Level)) {
	c.Memory.Levels = append([]pipeline.Level(nil), c.Memory.Levels...)
	for i := range c.Memory.Levels {
		f(&c.Memory.Levels[i])
	}
}

// modest returns a core that every law improves.
func modest() pipeline.Config {
	c := benchOutOfOrder()
	c.FetchWidth, c.DispatchWidth, c.IssueWidth, c.RetireWidth = 2, 2, 2, 2
	c.FetchBuffer, c.Window, c.LoadQueue, c.StoreQueue = 4, 24, 8, 6
	c.IntRegisters, c.FloatRegisters = 48, 44
	c.Branch.Entries, c.Branch.Targets = 64, 4
	c.ICache.Blocks = 16
	c.Memory.Conservative = true
	c.Memory.Ports = 1
	relevel(&c, func(l *pipeline.Level) { l.MSHRs = 2; l.Blocks /= 4 })
	for i := range c.Queues {
		c.Queues[i].Entries = 6
	}
	return c
}

// TestMoreIsNotSlower demands that more of any resource never costs more than an
// anomaly, and that it mostly speeds up the modest core, which is short of everything.
func TestMoreIsNotSlower(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, inOrder := range []bool{false, true} {
		gains := 0
		for seed := range uint64(3) {
			s := mixed(t, seed)
			base := modest()
			base.InOrder = inOrder
			before := s.simulate(t, base).Cycles
			for _, law := range laws {
				c := base
				law.better(&c)
				after := s.simulate(t, c).Cycles
				if float64(after) > (1+anomaly)*float64(before) {
					t.Errorf("seed %d, in order %v, better %s: %d cycles, before %d", seed, inOrder, law.name, after, before)
				}
				if after < before {
					gains++
				}
			}
		}
		least := 3 * len(laws) / 2
		if inOrder {
			least = len(laws) // what waits, waits outside of window and queues
		}
		if gains < least {
			t.Errorf("in order %v: only %d of %d improvements gain", inOrder, gains, 3*len(laws))
		}
	}
}

// TestInOrderIsNotFaster demands that an in-order core is not faster than an
// out-of-order one with the same units.
func TestInOrderIsNotFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := randomConfig(rng, true)
		c.Memory = smallMemory(rng)
		c.Queues = nil // they hold what waits, and in order nothing waits long
		s := randomScript(t, rng, manyClasses, 3000, func() uint64 { return 0x100 + rng.Uint64N(4096) })
		c.InOrder, c.OrderedCompletion = false, false
		free := s.simulate(t, c).Cycles
		c.InOrder = true
		held := s.simulate(t, c).Cycles
		if float64(held) < (1-anomaly)*float64(free) {
			t.Errorf("seed %d: %d cycles in order, %d out of order", seed, held, free)
		}
	}
}

// tableTwo returns a processor in the space of Wu and Lee, "Inferred Models for
// Dynamic and Sparse Hardware-Software Spaces" (MICRO 2012), Table 2: any values of
// y1 to y13.
func tableTwo(width, window, assoc, mshrs, dcache, icache, l2, l2Latency, alus, muls, fpAdds, fpMuls, ports int) pipeline.Config {
	// y2 has four parameters that grow together: load/store queue 11 :: 5+ ::
	// 38, physical registers 86 :: 42+ :: 300, instruction queue 22 :: 10+ ::
	// 72, reorder buffer 64 :: 32+ :: 224, in steps 0 to 5.
	classes := func(c isa.Class) []string {
		switch c {
		case isa.ALU, isa.Shift, isa.Compare, isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
			return []string{"alu"}
		case isa.Multiply, isa.Divide:
			return []string{"mul"}
		case isa.FPAdd, isa.FPConvert, isa.FPMove:
			return []string{"fpadd"}
		case isa.FPMultiply, isa.FPFused, isa.FPDivide, isa.FPSqrt:
			return []string{"fpmul"}
		}
		return nil
	}
	kib := uint64(1024 / 64)
	return pipeline.Config{
		FetchWidth: width, DispatchWidth: width, IssueWidth: width, RetireWidth: width, FetchBuffer: 8 * width, TakenPerCycle: 1,
		Window: 64 + 32*window, LoadQueue: 11 + 5*window, StoreQueue: 11 + 5*window,
		IntRegisters: 86 + 42*window, FloatRegisters: 86 + 42*window,
		Queues: []pipeline.Queue{{Name: "instruction queue", Entries: 22 + 10*window, Classes: isa.Classes()}},
		Units: []pipeline.Unit{
			{Name: "alu", Count: alus},
			{Name: "mul", Count: muls},
			{Name: "fpadd", Count: fpAdds},
			{Name: "fpmul", Count: fpMuls},
		},
		Timings: timings(classes, latencies),
		Branch:  pipeline.Branch{Predictor: pipeline.Gshare, Entries: 4096, HistoryBits: 10, Penalty: 10, ReturnStack: 16, Targets: 256},
		ICache:  pipeline.ICache{Blocks: uint64(icache) * kib, BlockBytes: 64, Ways: assoc, Next: 1},
		Memory: pipeline.Memory{
			Levels: []pipeline.Level{
				{Name: "L1", Blocks: uint64(dcache) * kib, BlockBytes: 64, Ways: assoc, Latency: 4, MSHRs: mshrs},
				{Name: "L2", Blocks: uint64(l2) * kib, BlockBytes: 64, Ways: max(2, assoc), Latency: 4 + l2Latency},
			},
			Latency: 150, Interval: 6, Ports: ports, ForwardLatency: 4,
		},
	}
}

func TestTableTwoOfWuAndLee(t *testing.T) {
	s := mixed(t, 1)
	least := s.simulate(t, tableTwo(1, 0, 1, 1, 16, 16, 256, 14, 1, 1, 1, 1, 1))
	most := s.simulate(t, tableTwo(8, 5, 8, 8, 128, 128, 4096, 6, 4, 2, 3, 2, 4))
	if 1.5*most.CPI() > least.CPI() {
		t.Errorf("CPI %.2f of the largest design, %.2f of the smallest", most.CPI(), least.CPI())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		mshrs := []int{1, 2, 4, 6, 8}
		c := tableTwo(1<<rng.IntN(4), rng.IntN(6), 1<<rng.IntN(4), mshrs[rng.IntN(5)], 16<<rng.IntN(4), 16<<rng.IntN(4), 256<<rng.IntN(5),
			6+2*rng.IntN(5), 1+rng.IntN(4), 1+rng.IntN(2), 1+rng.IntN(3), 1+rng.IntN(2), 1+rng.IntN(4))
		r := s.simulate(t, c)
		// More ways can miss more, so the smallest design need not be slowest.
		if float64(r.Cycles) > 1.1*float64(least.Cycles) || float64(r.Cycles) < (1-anomaly)*float64(most.Cycles) {
			t.Errorf("%d cycles, outside the %d of the largest design and the %d of the smallest", r.Cycles, most.Cycles, least.Cycles)
		}
	}
}

// TestMissesAreExact demands the hits and misses of the exact simulation of the same
// hierarchy.
func TestMissesAreExact(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var exact cache.Config
		config := ideal()
		blocks, bytes := uint64(8), uint64(16)
		levels := 1 + rng.IntN(3)
		for i := range levels {
			l := pipeline.Level{
				Name: string(rune('A' + i)), Blocks: blocks << rng.IntN(3), BlockBytes: bytes << rng.IntN(2), Ways: 1 << rng.IntN(3), Latency: 4 + 10*i,
				MSHRs: some(rng, 1, 4), Interval: some(rng, 1, 4),
				WriteThrough: rng.IntN(4) == 0, NoWriteAllocate: rng.IntN(4) == 0, BypassFloat: i == 0 && levels > 1 && rng.IntN(4) == 0,
			}
			if rng.IntN(4) == 0 {
				l.Ways = 0
			}
			if rng.IntN(4) == 0 && l.Ways > 0 {
				l.Blocks = 3 * uint64(l.Ways) // a number of sets that is no power of two
			}
			blocks, bytes = 4*l.Blocks, l.BlockBytes
			config.Memory.Levels = append(config.Memory.Levels, l)
			exact.Levels = append(exact.Levels, cache.Level{
				Name: l.Name, Blocks: l.Blocks, BlockBytes: l.BlockBytes, Ways: l.Ways,
				WriteThrough: l.WriteThrough, NoWriteAllocate: l.NoWriteAllocate, BypassFloat: l.BypassFloat,
			})
		}
		config.Memory.Latency, config.Memory.Interval = 100, some(rng, 1, 9)
		for i := range rng.IntN(3) {
			tlb := pipeline.TLB{Name: string(rune('T' + i)), Entries: 4 << i, EntryBytes: 128, Ways: 2 * rng.IntN(2), MissPenalty: 9, BypassFloat: i == 0 && rng.IntN(4) == 0}
			config.Memory.TLBs = append(config.Memory.TLBs, tlb)
			exact.TLBs = append(exact.TLBs, cache.TLB{Name: tlb.Name, Entries: tlb.Entries, EntryBytes: tlb.EntryBytes, Ways: tlb.Ways, BypassFloat: tlb.BypassFloat})
		}
		s := randomScript(t, rng, manyClasses, 3000, func() uint64 { return 0x100 + rng.Uint64N(4096) })
		got := s.simulate(t, config)
		sim, err := cache.New(s.plan, exact)
		if err != nil {
			t.Fatal(err)
		}
		sim.Observe(&s.batch)
		want := sim.Result()
		sum := func(groups []cache.Counts) (n cache.Counts) {
			for _, g := range groups {
				n.Accesses += g.Accesses
				n.Misses += g.Misses
				n.Writebacks += g.Writebacks
			}
			return n
		}
		for i, l := range want.Levels {
			n := sum(l.Groups)
			if g := got.Levels[i]; g.Accesses != n.Accesses || g.Misses != n.Misses || g.Writebacks != n.Writebacks {
				t.Errorf("seed %d, level %d: %+v, exact %+v", seed, i, g, n)
			}
		}
		for i, l := range want.TLBs {
			n := sum(l.Groups)
			if g := got.TLBs[i]; g.Accesses != n.Accesses || g.Misses != n.Misses {
				t.Errorf("seed %d, TLB %d: %+v, exact %+v", seed, i, g, n)
			}
		}
	}
}

// TestBatchesDoNotMatter demands the same result for a run in batches of any sizes.
func TestBatchesDoNotMatter(t *testing.T) {
	s := mixed(t, 2)
	whole := s.simulate(t, modest())
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, modest(), pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	blocks, accesses, start := s.batch.Blocks, s.batch.Accesses, uint64(0)
	for len(blocks) > 0 {
		n := min(1+rng.IntN(50), len(blocks))
		refs, insts := 0, 0
		for _, b := range blocks[:n] {
			refs += int(s.plan.Blocks[b].Refs)
			insts += len(s.code[b])
		}
		sim.Observe(&trace.Batch{Blocks: blocks[:n], Accesses: accesses[:refs], Start: start})
		blocks, accesses, start = blocks[n:], accesses[refs:], start+uint64(insts)
	}
	if got := sim.Result(); got.Cycles != whole.Cycles || got.Instructions != whole.Instructions || got.Mispredicts != whole.Mispredicts {
		t.Errorf("in batches %+v, in one %+v", got.Counts, whole.Counts)
	}
}
