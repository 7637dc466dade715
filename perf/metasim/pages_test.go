package metasim_test

import (
	"testing"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/metasim"
	"presage/perf/trace"
)

// firstTimes returns when each block of so many bytes is accessed for the first time.
func (t *tape) firstTimes(bytes uint64) map[uint64]uint64 {
	first := make(map[uint64]uint64)
	for i, a := range t.accesses {
		for b := a.Addr() / bytes; b <= a.Last()/bytes; b++ {
			if _, known := first[b]; !known {
				first[b] = t.at[i]
			}
		}
	}
	return first
}

// loaded reports whether a page holds something that the run was begun with.
func (p *subject) loaded(page uint64) bool {
	for _, s := range p.file.Segments {
		if len(s.Data) > 0 && page >= s.Addr/engine.PageBytes && page <= (s.Addr+uint64(len(s.Data))-1)/engine.PageBytes {
			return true
		}
	}
	return false
}

// TestPages holds the engine's list of touched pages against a whole trace. Beyond what
// the program accesses, there are the pages of the stack's top, which it was begun with
// and need not be in the list, and those that system calls fill.
func TestPages(t *testing.T) {
	p, code := small(t)
	tp := newTape(p, code)
	whole, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewDirect(tp)})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Pages != nil {
		t.Error("pages that were not asked for")
	}
	n := whole.Instructions
	windows := []trace.Window{{From: n / 4, To: n / 3}, {From: n / 3, To: n / 2}, {From: n - n/10, To: n - n/20}}
	out, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewPipeline(), Windows: windows, Pages: true})
	if err != nil {
		t.Fatal(err)
	}
	if out.Pages == nil {
		t.Skip("the host does not tell which pages it holds")
	}
	before := make(map[uint64]int)
	last := uint64(0)
	for _, r := range out.Pages {
		if r.Count == 0 || r.First < last {
			t.Fatalf("%+v after page %d", r, last)
		}
		for i := range r.Count {
			before[r.First+i] = r.Before
		}
		last = r.First + r.Count
	}
	missing := 0
	for page, at := range tp.firstTimes(engine.PageBytes) {
		b, listed := before[page]
		switch {
		case !listed:
			if !p.loaded(page) {
				missing++
			}
			continue
		case p.loaded(page):
			t.Errorf("page %#x was filled before the run", page)
		}
		delete(before, page)
		// The second window follows on the first: nobody looks between them.
		w := out.Windows
		lo, hi := uint64(0), uint64(1)<<62
		switch b {
		case 0:
			hi = w[0].From
		case 2:
			lo, hi = w[0].From, w[2].From
		case 3:
			lo = w[2].From
		default:
			t.Errorf("page %#x was found after %d windows", page, b)
		}
		const slack = 100 // windows begin with a block of code
		if at+slack < lo || at > hi+slack {
			t.Errorf("page %#x, first accessed at %d, was found after %d windows of %v", page, at, b, w)
		}
	}
	if missing > 2 || len(before) > 8 {
		t.Errorf("%d pages are missing, %d were not accessed", missing, len(before))
	}
}

// TestFirstAccessesAreOnce: with the touched pages known, misses once are the blocks of
// the whole run, whatever part of it is simulated and however small the cache, and no
// stretch has them.
func TestFirstAccessesAreOnce(t *testing.T) {
	p, code := program(t, "is", "-class", "S", "-quiet")
	tp := newTape(p, code)
	whole, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewDirect(tp)})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Run(t.Context(), engine.Request{Pages: true}); err != nil || out.Pages == nil {
		t.Skipf("the host does not tell which pages it holds (%v)", err)
	}
	n := whole.Instructions
	sample := metasim.Sample{Name: "test", Stretches: []metasim.Stretch{
		{Window: trace.Window{From: n / 2, To: n/2 + 20_000}, Weight: 0.3},
		{Window: trace.Window{From: n - 50_000, To: n - 20_000}, Weight: 0.7},
	}}
	simulated := func(run engine.Runner, blocks uint64) *metasim.Simulation {
		config := cache.Config{Levels: []cache.Level{{Name: "L1", Blocks: 32, BlockBytes: 64, Ways: 2}, {Name: "L2", Blocks: blocks, BlockBytes: 64, Ways: 4}}}
		sims, err := metasim.Simulate(t.Context(), run, code, sample, []cache.Config{config}, metasim.SimulateOptions{Warmup: metasim.WarmHistory, WarmLength: 300_000})
		if err != nil {
			t.Fatal(err)
		}
		return sims[0]
	}
	want := float64(len(tp.firstTimes(64)))
	sum := func(s *metasim.Simulation) (misses uint64) {
		for i := range s.Stretches {
			for _, c := range s.Stretches[i].Blocks {
				misses += c.Misses[1]
			}
		}
		return misses
	}
	for _, blocks := range []uint64{64, 1 << 18} {
		with, without := simulated(p.Run, blocks), simulated(blind(p), blocks)
		t.Logf("%d blocks held: %v once, %v by an engine that does not tell, of %g; %d and %d misses", blocks, with.Once, without.Once, want, sum(with), sum(without))
		if got := float64(with.Once[1]); got < 0.9*want || got > 1.1*want {
			t.Errorf("%d blocks held: %g once, want %g", blocks, got, want)
		}
		if with.Once[0] != without.Once[0] {
			t.Errorf("%d and %d blocks once at L1, which histories do not simulate", with.Once[0], without.Once[0])
		}
		if sum(with) > sum(without) {
			t.Errorf("%d blocks held: %d misses, %d with first accesses", blocks, sum(with), sum(without))
		}
		if with.Executed < n {
			t.Errorf("%d of %d instructions executed", with.Executed, n)
		}
	}
}
