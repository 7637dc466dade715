package metasim_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cache"
	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/isa"
	"presage/perf/metasim"
	"presage/perf/trace"
)

// small returns a program of a few million instructions, with the threads of Go's
// runtime.
func small(tb testing.TB) (*subject, *metasim.Code) {
	return program(tb, "matmul", "-n", "24", "-repeat", "3")
}

// tape is the whole trace of a run: each access with the number of instructions
// executed before it.
type tape struct {
	plan *trace.Plan
	// Of each block: where among its instructions the references are.
	offsets  [][]uint32
	at       []uint64
	accesses []trace.Access
	executed []uint64
	group    []int // of references: the block
}

// newTape returns a tape with a plan, built independently of Code, to record all
// blocks and all references.
func newTape(p *subject, code *metasim.Code) *tape {
	insts := make(map[uint64]*isa.Inst)
	for _, r := range cfg.Analyze(p.file).Routines {
		for b := range r.Blocks {
			for i := range r.Blocks[b].Insts {
				in := &r.Blocks[b].Insts[i]
				insts[in.PC] = in
			}
		}
	}
	t := &tape{plan: new(trace.Plan), executed: make([]uint64, len(code.Blocks))}
	for i, b := range code.Blocks {
		t.plan.Blocks = append(t.plan.Blocks, trace.Block{PC: b.PC, Instructions: b.Instructions, Refs: b.Refs})
		var offsets []uint32
		pc := uint64(b.PC)
		for k := range b.Instructions {
			in := insts[pc]
			for _, m := range in.Mems() {
				kind := map[isa.MemKind]trace.Kind{isa.MemStore: trace.Store, isa.MemReadModifyWrite: trace.ReadModifyWrite}[m.Kind]
				t.plan.Refs = append(t.plan.Refs, trace.Ref{PC: trace.PC(pc), Size: m.Size, Kind: kind, Float: m.Float, Group: trace.GroupID(i)})
				t.group = append(t.group, i)
				offsets = append(offsets, k)
			}
			pc = in.Next()
		}
		t.offsets = append(t.offsets, offsets)
	}
	return t
}

func (t *tape) Observe(b *trace.Batch) {
	at, rest := b.Start, b.Accesses
	for _, id := range b.Blocks {
		t.executed[id]++
		for _, k := range t.offsets[id] {
			if len(rest) == 0 {
				break // a fault ended the block
			}
			t.at, t.accesses = append(t.at, at+uint64(k)), append(t.accesses, rest[0])
			rest = rest[1:]
		}
		at += uint64(t.plan.Blocks[id].Instructions)
	}
	if len(rest) > 0 {
		panic(fmt.Sprintf("%d accesses belong to no block", len(rest)))
	}
}

// spy runs a program and keeps the exact windows of the run.
type spy struct {
	run     engine.Runner
	mu      sync.Mutex
	windows []trace.Window
}

func (s *spy) Run(ctx context.Context, r engine.Request) (*engine.Outcome, error) {
	out, err := s.run(ctx, r)
	if err == nil {
		s.mu.Lock()
		s.windows = append(s.windows, out.Windows...)
		s.mu.Unlock()
	}
	return out, err
}

// hierarchy returns a hierarchy with enough misses: a small first level, a second
// level, and a TLB.
func hierarchy() cache.Config {
	return cache.Config{
		Levels: []cache.Level{{Name: "L1", Blocks: 32, BlockBytes: 64, Ways: 2}, {Name: "L2", Blocks: 512, BlockBytes: 64, Ways: 4}},
		TLBs:   []cache.TLB{{Name: "TLB", Entries: 8, EntryBytes: 4096}},
	}
}

// keep simulates the tape's accesses in windows, one at a time, and returns the
// counts of the windows marked in counts. fresh marks windows that begin with empty
// caches.
func (t *tape) keep(tb testing.TB, windows []trace.Window, counts, fresh []bool) [][]metasim.Counts {
	tb.Helper()
	var out [][]metasim.Counts
	var sim *cache.Simulator
	var err error
	levels := func() (all []cache.LevelResult) {
		r := sim.Result()
		return append(r.Levels, r.TLBs...)
	}
	next := 0
	for w := range windows {
		if fresh[w] {
			if sim, err = cache.New(t.plan, hierarchy()); err != nil {
				tb.Fatal(err)
			}
		}
		before := levels()
		accesses := make(map[int]uint64)
		for next < len(t.at) && t.at[next] < windows[w].From {
			next++
		}
		for ; next < len(t.at) && t.at[next] < windows[w].To; next++ {
			a := t.accesses[next]
			sim.Observe(&trace.Batch{Accesses: []trace.Access{a}})
			accesses[t.group[a.Ref()]]++
		}
		if !counts[w] {
			continue
		}
		after := levels()
		var list []metasim.Counts
		for b := range t.plan.Blocks {
			if accesses[b] == 0 {
				continue
			}
			c := metasim.Counts{Block: b, Accesses: accesses[b]}
			for l := range after {
				c.Misses = append(c.Misses, after[l].Groups[b].Misses-before[l].Groups[b].Misses)
			}
			list = append(list, c)
		}
		out = append(out, list)
	}
	return out
}

// TestSamplesAgainstWholeTrace records the whole trace, simulates the accesses that
// lie in the windows one by one, and compares the hits and misses of every block.
func TestSamplesAgainstWholeTrace(t *testing.T) {
	p, code := small(t)
	tp := newTape(p, code)
	whole, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewDirect(tp)})
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Instructions
	stretches := func(at ...uint64) metasim.Sample {
		s := metasim.Sample{Name: "test"}
		for i := 0; i < len(at); i += 2 {
			s.Stretches = append(s.Stretches, metasim.Stretch{Window: trace.Window{From: at[i], To: at[i+1]}, Weight: 2 / float64(len(at))})
		}
		return s
	}
	// Stretches far apart; adjacent; closer than the warm-up; at the beginning and
	// the end.
	sample := stretches(0, 20_000, n/3, n/3+30_000, n/3+30_000, n/3+31_000, n/3+34_000, n/3+60_000, n/2, n/2+50_000, n-9000, n+5000)
	const warm = 10_000
	for _, c := range []struct {
		opt    metasim.SimulateOptions
		counts string // of the windows: w warms up, W too, C counts, C beginning with empty caches in upper case
	}{
		{metasim.SimulateOptions{Warmup: metasim.WarmNone}, "C C c C C C"},
		{metasim.SimulateOptions{Warmup: metasim.WarmKept}, "C c c c c c"},
		{metasim.SimulateOptions{WarmLength: warm}, "C W c c w c W c W c"},
		{metasim.SimulateOptions{Warmup: metasim.WarmKeptFixed, WarmLength: warm}, "C w c c w c w c w c"},
	} {
		t.Run(c.opt.Warmup.String(), func(t *testing.T) {
			var counts, fresh []bool
			for _, word := range strings.Fields(c.counts) {
				counts, fresh = append(counts, strings.EqualFold(word, "c")), append(fresh, word == strings.ToUpper(word))
			}
			watched := &spy{run: p.Run}
			sims, err := metasim.Simulate(t.Context(), watched.Run, code, sample, []cache.Config{hierarchy()}, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if len(watched.windows) != len(counts) {
				t.Fatalf("%d windows, want %d: %v", len(watched.windows), len(counts), watched.windows)
			}
			var simulated, warmed uint64
			for i, w := range watched.windows {
				if counts[i] {
					simulated += w.To - w.From
				} else {
					warmed += w.To - w.From
				}
			}
			s := sims[0]
			if s.Simulated != simulated || s.Warmed != warmed || s.Executed > n {
				t.Errorf("%d simulated, %d to warm up, %d executed; windows hold %d and %d", s.Simulated, s.Warmed, s.Executed, simulated, warmed)
			}
			want := tp.keep(t, watched.windows, counts, fresh)
			var got [][]metasim.Counts
			misses := uint64(0)
			for _, r := range s.Stretches {
				got = append(got, r.Blocks)
				for _, b := range r.Blocks {
					misses += b.Misses[1]
				}
			}
			same(t, "whole trace", "windows", want, got)
			if misses == 0 {
				t.Error("no misses at L2: the test shows nothing")
			}
		})
	}
	// The run that collects vectors counts the same executions.
	prof, err := metasim.Collect(t.Context(), p.Run, code, metasim.CollectOptions{Interval: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(tp.executed, prof.Executions); d != "" {
		t.Errorf("executions (-whole trace +collected):\n%.1000s", d)
	}
	if prof.Instructions != n || prof.Vectors.Total() != n || len(prof.Warnings) > 0 {
		t.Errorf("%d instructions in %d, warnings %v", prof.Vectors.Total(), n, prof.Warnings)
	}
	var accesses uint64
	for b := range code.Blocks {
		accesses += prof.Executions[b] * uint64(code.Blocks[b].Refs)
	}
	// A block cut short by a fault or a signal is counted as complete.
	if got := uint64(len(tp.at)); accesses < got || accesses > got+100 {
		t.Errorf("%d accesses by executions, %d traced", accesses, got)
	}
}

// same reports the first stretch that differs, as a complete diff takes minutes.
func same[T any](t *testing.T, what, other string, a, b []T) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d stretches; %s: %d", what, len(a), other, len(b))
		return
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("stretch %d\n%s: %.500s\n%s: %.500s", i, what, fmt.Sprint(a[i]), other, fmt.Sprint(b[i]))
			return
		}
	}
}

// TestFullIsExact checks that the full sample gives exactly the counts of package
// cache on the whole run, and that the program's hit rate is the fraction of
// accesses that hit.
func TestFullIsExact(t *testing.T) {
	p, code := small(t)
	tp := newTape(p, code)
	want, err := cache.New(tp.plan, hierarchy())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), engine.Request{Plan: &trace.Plan{Refs: tp.plan.Refs}, Sink: trace.NewDirect(want)}); err != nil {
		t.Fatal(err)
	}
	prof, err := metasim.Collect(t.Context(), p.Run, code, metasim.CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sims, err := metasim.Simulate(t.Context(), p.Run, code, metasim.Full(), []cache.Config{hierarchy(), metasim.Power3()}, metasim.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rates, err := metasim.RatesOf(code, sims[0]).Program(code, prof.Executions)
	if err != nil {
		t.Fatal(err)
	}
	r := want.Result()
	levels := append(r.Levels, r.TLBs...)
	accesses := levels[0].Total.Accesses
	for l, level := range levels {
		var misses, mine uint64
		for _, b := range sims[0].Stretches[0].Blocks {
			misses += b.Misses[l]
			mine += b.Accesses
		}
		if misses != level.Total.Misses || mine != accesses {
			t.Errorf("%s: %d misses of %d accesses, package cache has %d of %d", level.Name, misses, mine, level.Total.Misses, accesses)
		}
		exact := 1 - float64(level.Total.Misses)/float64(accesses)
		// The weights count blocks cut short by a fault as complete: a few accesses in
		// a million.
		if got := rates[l]; got.Hit < exact-1e-6 || got.Hit > exact+1e-6 || got.Unseen != 0 || got.Level != level.Name {
			t.Errorf("%s: hit rate %+v, of accesses %.9f", level.Name, got, exact)
		}
	}
	if sims[1].Stretches[0].Blocks[0].Accesses != sims[0].Stretches[0].Blocks[0].Accesses || len(sims[1].Levels) != 3 {
		t.Error("two hierarchies in a run see different accesses")
	}
	if sims[0].Simulated != prof.Instructions || len(sims[0].Warnings) > 0 {
		t.Errorf("%d of %d instructions simulated, warnings %v", sims[0].Simulated, prof.Instructions, sims[0].Warnings)
	}
}

// TestRefusals checks that invalid arguments are rejected, and that stretches not
// reached are reported.
func TestRefusals(t *testing.T) {
	p, code := small(t)
	at := func(from, to uint64) metasim.Sample {
		return metasim.Sample{Name: "s", Stretches: []metasim.Stretch{{Window: trace.Window{From: from, To: to}, Weight: 1}}}
	}
	one := []cache.Config{hierarchy()}
	for name, c := range map[string]struct {
		sample metasim.Sample
		config []cache.Config
		opt    metasim.SimulateOptions
	}{
		"has no stretches":   {metasim.Sample{}, one, metasim.SimulateOptions{}},
		"is empty":           {at(5, 5), one, metasim.SimulateOptions{}},
		"unknown warm-up":    {at(0, 5), one, metasim.SimulateOptions{Warmup: 9}},
		"exclude each other": {at(0, 5), one, metasim.SimulateOptions{Warmup: metasim.WarmNone, WarmLength: 5}},
		"neither levels nor": {at(0, 5), []cache.Config{{}}, metasim.SimulateOptions{}},
	} {
		if _, err := metasim.Simulate(t.Context(), p.Run, code, c.sample, c.config, c.opt); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	sims, err := metasim.Simulate(t.Context(), p.Run, code, at(1<<50, 1<<51), one, metasim.SimulateOptions{})
	if err != nil || len(sims[0].Stretches) != 0 || len(sims[0].Warnings) != 1 {
		t.Errorf("a stretch after the end: %+v, %v", sims, err)
	}
	failing := &subject{p.file, engine.Request{Args: []string{"-nonsense"}}}
	if _, err := metasim.Collect(t.Context(), failing.Run, code, metasim.CollectOptions{}); err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("a program that fails: %v", err)
	}
	limited := &subject{p.file, engine.Request{Args: p.input.Args, MaxInstructions: 50_000}}
	if _, err := metasim.Collect(t.Context(), limited.Run, code, metasim.CollectOptions{}); !errors.Is(err, engine.ErrInstructionLimit) {
		t.Errorf("a limit on the program: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := metasim.Collect(ctx, p.Run, code, metasim.CollectOptions{}); err == nil {
		t.Error("cancelled: no error")
	}
}
