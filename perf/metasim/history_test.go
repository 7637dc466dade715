package metasim_test

import (
	"testing"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/metasim"
	"presage/perf/trace"
)

// TestHistoryCountsBlocksOnce: in caches that hold all that is ever touched, the only
// misses are those of the whole run: one for each block that a simulated part touches.
// In small ones, misses are no more than with the same warm-up taken as it is.
func TestHistoryCountsBlocksOnce(t *testing.T) {
	p, code := small(t)
	tp := newTape(p, code)
	whole, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewDirect(tp)})
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Instructions
	const warm = 300_000 // 100,000 of them in a hurry
	sample := metasim.Sample{Name: "test", Stretches: []metasim.Stretch{
		{Window: trace.Window{From: n / 2, To: n/2 + 20_000}, Weight: 0.3},
		{Window: trace.Window{From: n - 50_000, To: n - 20_000}, Weight: 0.7},
	}}
	const blockBytes = 64
	config := cache.Config{Levels: []cache.Level{
		{Name: "L1", Blocks: 32, BlockBytes: blockBytes, Ways: 2},
		{Name: "L2", Blocks: 1 << 18, BlockBytes: blockBytes, Ways: 4},
	}}
	const start = 1_000_000 // of every run
	simulated := func(w metasim.Warmup) *metasim.Simulation {
		sims, err := metasim.Simulate(t.Context(), blind(p), code, sample, []cache.Config{config}, metasim.SimulateOptions{Warmup: w, WarmLength: warm})
		if err != nil {
			t.Fatal(err)
		}
		return sims[0]
	}
	history, fixed := simulated(metasim.WarmHistory), simulated(metasim.WarmFixed)
	touched := make(map[uint64]bool)
	for i, a := range tp.accesses {
		for _, s := range history.Stretches {
			if at := tp.at[i]; at < start || at >= s.From-warm && at < s.To {
				for b := a.Addr() / blockBytes; b <= a.Last()/blockBytes; b++ {
					touched[b] = true
				}
			}
		}
	}
	// Windows begin and end with a block of code, and blocks of data that the filter
	// passes over are in it.
	if got, want := float64(history.Once[1]), float64(len(touched)); want < 100 || got < 0.99*want || got > 1.01*want {
		t.Errorf("%g blocks once, and %g were touched", got, want)
	}
	if history.Once[0] != 0 || fixed.Once != nil {
		t.Errorf("once: %v at a cache of 32 blocks, %v without history", history.Once, fixed.Once)
	}
	var l1, l2, fixed1, fixed2 uint64
	for i := range history.Stretches {
		for _, c := range history.Stretches[i].Blocks {
			l1, l2 = l1+c.Misses[0], l2+c.Misses[1]
		}
		for _, c := range fixed.Stretches[i].Blocks {
			fixed1, fixed2 = fixed1+c.Misses[0], fixed2+c.Misses[1]
		}
	}
	if l2 != 0 || fixed2 == 0 {
		t.Errorf("%d misses of a cache that holds everything, %d with a fixed warm-up", l2, fixed2)
	}
	if l1 == 0 || l1 > fixed1 {
		t.Errorf("%d misses at L1, %d with a fixed warm-up", l1, fixed1)
	}
	prof, err := metasim.Collect(t.Context(), p.Run, code, metasim.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rates := metasim.RatesOf(code, history)
	programs, err := rates.Program(code, prof.Executions)
	if err != nil {
		t.Fatal(err)
	}
	all := 0.0
	for b, executions := range prof.Executions {
		all += float64(executions) * float64(code.Blocks[b].Refs)
	}
	if got, want := (1-programs[1].Hit)*all, float64(history.Once[1]); got < 0.999*want || got > 1.001*want {
		t.Errorf("the program misses L2 %g times, want %g, once for each block", got, want)
	}
	if _, err := metasim.Simulate(t.Context(), p.Run, code, sample, []cache.Config{config}, metasim.SimulateOptions{Warmup: metasim.WarmHistory}); err == nil {
		t.Error("a history without a length: no error")
	}
}

// TestHistoryTakesAShareOfUnknown: where the simulated parts touch about twice the blocks
// that a cache holds, about half of what finds free places misses.
func TestHistoryTakesAShareOfUnknown(t *testing.T) {
	p, code := small(t)
	whole, err := p.Run(t.Context(), engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Instructions
	sample := metasim.Sample{Name: "test"}
	for i := range uint64(12) {
		from := n/3 + i*n/20
		sample.Stretches = append(sample.Stretches, metasim.Stretch{Window: trace.Window{From: from, To: from + 4_000}, Weight: 1. / 12})
	}
	misses := func(w metasim.Warmup, blocks uint64) (sum, once float64) {
		config := cache.Config{Levels: []cache.Level{{Name: "L", Blocks: blocks, BlockBytes: 64}}}
		sims, err := metasim.Simulate(t.Context(), blind(p), code, sample, []cache.Config{config}, metasim.SimulateOptions{Warmup: w, WarmLength: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range sims[0].Stretches {
			for _, c := range sims[0].Stretches[i].Blocks {
				sum += float64(c.Misses[0])
			}
		}
		if w == metasim.WarmHistory {
			once = float64(sims[0].Once[0])
		}
		return sum, once
	}
	// Fully associative: what holds everything has each block once.
	_, touched := misses(metasim.WarmHistory, 1<<16)
	blocks := uint64(touched / 2)
	all, _ := misses(metasim.WarmFixed, blocks)
	some, once := misses(metasim.WarmHistory, blocks)
	if once != 0 || all < 100 || some < 0.45*all || some > 0.6*all {
		t.Errorf("%g blocks touched, %d held: %g of %g misses taken, %g once", touched, blocks, some, all, once)
	}
}
