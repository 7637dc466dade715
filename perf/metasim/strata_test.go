package metasim_test

import (
	"slices"
	"testing"

	"presage/perf/bbv"
	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/metasim"
	"presage/perf/simpoint"
	"presage/perf/trace"
)

// TestStratify divides histories worked by hand: 20 intervals of a million, points 8 and
// 11 of clusters 0 and 2, and histories of six million. The history of point 8 begins
// with empty caches at 2, and counts from the middle of [2, 8) less the warm-up proper:
// intervals 5 and 6. That of point 11 is the gap of [9, 11), with caches as they are, and
// counts whole. Cluster 1 has no point.
func TestStratify(t *testing.T) {
	const million = 1_000_000
	v := &bbv.Vectors{First: []int{0}}
	labels := make([]int, 20)
	for i := range uint64(20) {
		v.Starts, v.Lengths = append(v.Starts, i*million), append(v.Lengths, million)
		v.Blocks, v.Instructions, v.First = append(v.Blocks, 0), append(v.Instructions, million), append(v.First, int(i)+1)
	}
	points := []simpoint.Point{{Interval: 8, Cluster: 0, Weight: 0.5}, {Interval: 11, Cluster: 2, Weight: 0.5}}
	labels[9], labels[11] = 2, 2
	sample, err := metasim.Guided(v, points)
	if err != nil {
		t.Fatal(err)
	}
	got := func() []metasim.Stratum {
		s, err := sample.Stratify(v, labels, points, 6*million)
		if err != nil {
			t.Fatal(err)
		}
		return s.Strata
	}
	window := func(from, to uint64) trace.Window { return trace.Window{From: from * million, To: to * million} }
	want := []metasim.Stratum{{Window: window(5, 7), Like: 0}, {Window: window(9, 10), Like: 1}}
	if list := got(); !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
	labels[6] = 1
	want[0].To = 6 * million
	if list := got(); !slices.Equal(list, want) {
		t.Errorf("with an interval of a cluster without a point %v, want %v", list, want)
	}
	if _, err := sample.Stratify(v, labels[1:], points, 6*million); err == nil {
		t.Error("clusters of other intervals: no error")
	}
	if _, err := sample.Stratify(v, labels, []simpoint.Point{{Interval: 3}}, 6*million); err == nil {
		t.Error("a point that is no stretch: no error")
	}
	sample.Strata = []metasim.Stratum{{Window: window(5, 6), Like: 2}}
	if _, err := metasim.Simulate(t.Context(), nil, nil, sample, nil, metasim.SimulateOptions{}); err == nil {
		t.Error("like a third stretch of two: no error")
	}
}

// mostByFilter is how far misses in histories may be off because a filter stands for the
// first level in them.
const mostByFilter = 0.1

// TestStrataCountTheirAccesses: parts of histories have the accesses of the run's trace,
// and about the misses of the full simulation, which they bring to the stretches that
// they are like.
func TestStrataCountTheirAccesses(t *testing.T) {
	p, code := small(t)
	tp := newTape(p, code)
	if _, err := p.Run(t.Context(), engine.Request{Plan: tp.plan, Sink: trace.NewDirect(tp)}); err != nil {
		t.Fatal(err)
	}
	prof, err := metasim.Collect(t.Context(), p.Run, code, metasim.CollectOptions{Interval: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	v := prof.Vectors
	labels := make([]int, v.Len())
	for i := range labels {
		labels[i] = i / 3 % 2
	}
	points := []simpoint.Point{{Interval: v.Len() / 2, Cluster: labels[v.Len()/2], Weight: 0.5}}
	last := v.Len() - 2
	for labels[last] == points[0].Cluster {
		last--
	}
	points = append(points, simpoint.Point{Interval: last, Cluster: labels[last], Weight: 0.5})
	guided, err := metasim.Guided(v, points)
	if err != nil {
		t.Fatal(err)
	}
	length := v.Starts[last] / 3
	sample, err := guided.Stratify(v, labels, points, length)
	if err != nil {
		t.Fatal(err)
	}
	config := cache.Config{
		Levels: []cache.Level{{Name: "L1", Blocks: 8, BlockBytes: 64, Ways: 2}, {Name: "L2", Blocks: 64, BlockBytes: 64, Ways: 4}},
		TLBs:   []cache.TLB{{Name: "TLB", Entries: 8, EntryBytes: 256, Ways: 2}},
	}
	run := func(s metasim.Sample, opt metasim.SimulateOptions) *metasim.Simulation {
		sims, err := metasim.Simulate(t.Context(), blind(p), code, s, []cache.Config{config}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return sims[0]
	}
	got := run(sample, metasim.SimulateOptions{Warmup: metasim.WarmHistory, WarmLength: length})

	whole := metasim.Sample{Name: "intervals"}
	for i := range v.Len() {
		whole.Stretches = append(whole.Stretches, metasim.Stretch{Window: trace.Window{From: v.Starts[i], To: v.Starts[i] + v.Lengths[i]}})
	}
	full := run(whole, metasim.SimulateOptions{Warmup: metasim.WarmKept})
	type sums struct{ accesses, misses, pages, instructions uint64 }
	var want [2]sums
	for _, s := range sample.Strata {
		w := &want[s.Like]
		w.instructions += s.To - s.From
		for _, at := range tp.at {
			if at >= s.From && at < s.To {
				w.accesses++
			}
		}
		for i := range full.Stretches {
			if f := &full.Stretches[i]; f.From >= s.From && f.To <= s.To {
				for _, c := range f.Blocks {
					w.misses += c.Misses[1]
					w.pages += c.Misses[2]
				}
			}
		}
	}
	for i := range got.Stretches {
		s := &got.Stretches[i]
		var have sums
		have.instructions = s.LikeInstructions
		for _, c := range s.Like {
			have.accesses += c.Accesses
			have.misses += c.Misses[1]
			have.pages += c.Misses[2]
			if c.Misses[0] != 0 {
				t.Errorf("block %d: %d misses at the first level, which histories do not simulate", c.Block, c.Misses[0])
			}
		}
		w := want[i]
		t.Logf("stretch %d: %+v, the run has %+v", i, have, w)
		if w.accesses == 0 || w.misses < 100 || w.pages < 200 {
			t.Fatalf("stretch %d: nothing to count: %+v", i, w)
		}
		if have.accesses != w.accesses {
			t.Errorf("stretch %d: %+v, the run has %+v", i, have, w)
		}
		// Windows begin and end with a block.
		if off := float64(have.instructions)/float64(w.instructions) - 1; off > 0.001 || off < -0.001 {
			t.Errorf("stretch %d: %d instructions, the run has %d", i, have.instructions, w.instructions)
		}
		if off := float64(have.misses)/float64(w.misses) - 1; off > mostByFilter || off < -mostByFilter {
			t.Errorf("stretch %d: %d misses, the full simulation has %d", i, have.misses, w.misses)
		}
		// The TLB is simulated as it is, access by access.
		if off := float64(have.pages)/float64(w.pages) - 1; off > 0.001 || off < -0.001 {
			t.Errorf("stretch %d: %d misses of the TLB, the full simulation has %d", i, have.pages, w.pages)
		}
	}
	// Without strata, the same stretches.
	plain := run(guided, metasim.SimulateOptions{Warmup: metasim.WarmHistory, WarmLength: length})
	for i := range plain.Stretches {
		a, b := &plain.Stretches[i], &got.Stretches[i]
		if len(a.Like) > 0 || !slices.EqualFunc(a.Blocks, b.Blocks, func(x, y metasim.Counts) bool {
			return x.Block == y.Block && x.Accesses == y.Accesses && slices.Equal(x.Misses, y.Misses)
		}) {
			t.Errorf("stretch %d is another without strata", i)
		}
	}
}

// TestRatesOfStrata pools a stretch and what is like it at the second level alone, worked
// by hand.
func TestRatesOfStrata(t *testing.T) {
	code, s, _ := example()
	first := &s.Stretches[0]
	first.Like = []metasim.Counts{{Block: 0, Accesses: 5, Misses: []uint64{0, 1}}, {Block: 1, Accesses: 300, Misses: []uint64{0, 150}}}
	first.LikeInstructions = 300
	near(t, "block 1, L2, by equation (4)", metasim.RatesOf(code, s).Hit[1][1], 0.75*0.9+0.25*1)
	s.Sample.Combine = metasim.ByHistory
	r := metasim.RatesOf(code, s)
	near(t, "block 1, L1", r.Hit[0][1], 1-(0.75*0.2+0.25*0.03)/(0.75+0.25*0.05))
	near(t, "block 1, L2", r.Hit[1][1], 1-(0.75*160/400)/(0.75*400/400+0.25*0.05))
	near(t, "block 0, L2, of the history alone", r.Hit[1][0], 0.8)
	if r.Seen[0][0] || !r.Seen[1][0] {
		t.Errorf("block 0 is seen: %t at L1, %t at L2", r.Seen[0][0], r.Seen[1][0])
	}
}
