package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
)

// waitLevels are the levels of a machine with 10 cycles from L1 to L2, 90 more
// to memory, and 50 for a translation.
var waitLevels = []Penalty{
	{Level: "L1", Latency: 10, Share: 0.5}, {Level: "L2", Latency: 90, Share: 1}, {Level: "TLB", Latency: 50, Share: 1, TLB: true},
}

// TestWaitOverlapped checks values worked out by hand from the doc comment of
// WaitOverlapped.
func TestWaitOverlapped(t *testing.T) {
	work := Work{Instructions: 1000, Cycles: 500, Misses: []float64{100, 20, 3}, Reach: 40} // hides 20 cycles
	for _, c := range []struct {
		name        string
		change      func(*Work)
		outstanding int
		interval    float64
		want        [3]float64
	}{
		// Of 100 misses 80 end in L2: 10 cycles, all hidden. 20 go on: 100-20
		// cycles, of 40·20/1000 = 0.8 within reach one at a time.
		{"one at a time", func(*Work) {}, 8, 0, [3]float64{0, 20 * 80, 150}},
		{"no reach", func(w *Work) { w.Reach = 0 }, 8, 0, [3]float64{80 * 10, 20 * 100, 150}},
		// 40·200/1000 = 8 within reach.
		{"together", func(w *Work) { w.Misses[0], w.Misses[1] = 300, 200 }, 16, 0, [3]float64{0, 200 * 80 / 8, 150}},
		{"as many as can be outstanding", func(w *Work) { w.Misses[0], w.Misses[1] = 300, 200 }, 4, 0, [3]float64{0, 200 * 80 / 4, 150}},
		{"chained", func(w *Work) { w.Misses[0], w.Misses[1], w.Chained = 300, 200, true }, 16, 0, [3]float64{0, 200 * 80, 150}},
		// 220 blocks of 30 cycles, of which 500 + 2000 + 150 go by anyway.
		{"bandwidth", func(w *Work) {
			w.Misses[0], w.Misses[1], w.Stores = 300, 200, []float64{0, 20, 0}
		}, 16, 30, [3]float64{0, 2000 + 220*30 - 2650, 150}},
		// 10 blocks from L2 and 30 from memory: 100 + 3000 cycles, 64·40/640 = 4 blocks at
		// a time, of which 500 go by anyway.
		{"stores", func(w *Work) {
			w.Misses, w.Stores, w.Stored, w.StoreQueue = []float64{0, 0, 0}, []float64{40, 30, 0}, 640, 64
		}, 8, 0, [3]float64{0, 3100/4.0 - 500, 0}},
		{"stores, as many as can be outstanding", func(w *Work) {
			w.Misses, w.Stores, w.Stored, w.StoreQueue = []float64{0, 0, 0}, []float64{40, 30, 0}, 640, 64
		}, 2, 0, [3]float64{0, 3100/2.0 - 500, 0}},
		{"stores that any queue holds", func(w *Work) {
			w.Misses, w.Stores, w.Stored = []float64{0, 0, 0}, []float64{40, 30, 0}, 640
		}, 8, 0, [3]float64{}},
		{"nothing executed", func(w *Work) { w.Instructions = 0 }, 8, 30, [3]float64{}},
	} {
		w := work
		w.Misses = append([]float64(nil), work.Misses...)
		c.change(&w)
		got := w.WaitOverlapped(waitLevels, c.outstanding, c.interval)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%s: %s waits %g cycles, want %g", c.name, waitLevels[i].Level, got[i], c.want[i])
			}
		}
	}
	fixed := work.WaitFixed(waitLevels)
	for i, want := range []float64{100 * 10 * 0.5, 20 * 90, 150} {
		if fixed[i] != want {
			t.Errorf("fixed: %s waits %g cycles, want %g", waitLevels[i].Level, fixed[i], want)
		}
	}
}

// TestWaitOfStreams checks values worked out by hand from the doc comment of
// WaitOverlapped: with 20 cycles hidden, and 100 to memory, prefetching leaves
// 60.
// TestWaitOfWalks checks values worked out by hand: misses of a TLB that hardware
// serves, several at a time, while execution continues.
func TestWaitOfWalks(t *testing.T) {
	for _, c := range []struct {
		name   string
		work   Work
		walks  int
		misses float64
		want   float64
	}{
		{"serial", Work{Reach: 40}, 0, 30, 30 * 60},
		// 40·500/1000 = 20 of 60 cycles are hidden; 40·30/1000 = 1.2 within reach.
		{"within reach", Work{Reach: 40}, 4, 30, 30 * 40 / 1.2},
		{"chained", Work{Reach: 40, Chained: true}, 4, 30, 30 * 40},
		// 40·200/1000 = 8 within reach, of which four are served.
		{"as many as are served", Work{Reach: 40}, 4, 200, 200*60/4 - 500},
		{"nothing hidden", Work{}, 4, 30, 30 * 60},
		{"all hidden", Work{Reach: 120}, 4, 30, 0},
		// All is hidden, and walks take 90·60/4 cycles, of which 500 go by anyway.
		{"busy", Work{Reach: 120}, 4, 90, 90*60/4 - 500},
	} {
		w := c.work
		w.Instructions, w.Cycles, w.Misses = 1000, 500, []float64{c.misses}
		got := w.WaitOverlapped([]Penalty{{Level: "TLB", Latency: 60, Share: 1, TLB: true, Walks: c.walks}}, 8, 0)[0]
		if math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

func TestWaitOfStreams(t *testing.T) {
	levels := slices.Clone(waitLevels)
	levels[0].Stream, levels[1].Stream = 10, 60
	for _, c := range []struct {
		name     string
		streams  []float64
		interval float64
		want     float64
	}{
		// Of 200 misses, 40·200/1000 = 8 at a time.
		{"none", nil, 0, 200 * 80 / 8},
		{"none of them", []float64{0, 0, 0}, 0, 200 * 80 / 8},
		// Each has half of what is exposed left: as 100 misses, 4 at a time.
		{"all", []float64{300, 200, 0}, 0, 100 * 80 / 4},
		// As 20 + 10 misses, 40·30/1000 = 1.2 at a time.
		{"some", []float64{20, 20, 0}, 0, 190 * 80 / 7.6},
		// Prefetched or not, blocks go one after the other: 200 of 30 cycles.
		{"bandwidth", []float64{300, 200, 0}, 30, 200*30 - 500 - 150},
	} {
		w := Work{Instructions: 1000, Cycles: 500, Misses: []float64{300, 200, 3}, Streams: c.streams, Reach: 40}
		if got := w.WaitOverlapped(levels, 16, c.interval); math.Abs(got[1]-c.want) > 1e-9 {
			t.Errorf("%s: memory waits %g cycles, want %g", c.name, got[1], c.want)
		}
	}
}

// TestLawsOfStreams demands that streams without prefetching equal other
// misses, to the last bit; that the wait grows with what prefetching leaves;
// and that the paper's formula ignores prefetching.
func TestLawsOfStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		levels := slices.Clone(waitLevels)
		w := Work{Instructions: 1000, Cycles: 100 + 900*rng.Float64(), Reach: 300 * rng.Float64(), Chained: rng.IntN(4) == 0}
		misses := 500 * rng.Float64()
		w.Misses = []float64{misses, misses * rng.Float64(), rng.Float64()}
		streams := w.Misses[1] * rng.Float64()
		w.Streams = []float64{streams + (misses-w.Misses[1])*rng.Float64(), streams, w.Misses[2]}
		outstanding, interval := 1+rng.IntN(20), 20*rng.Float64()
		at := func(left float64) []float64 {
			levels[0].Stream, levels[1].Stream = math.Min(left, 10), math.Min(left, 100)
			return w.WaitOverlapped(levels, outstanding, interval)
		}
		without := w
		without.Streams = nil
		if got, want := at(100), without.WaitOverlapped(levels, outstanding, interval); !slices.Equal(got, want) {
			t.Fatalf("%+v waits %v, without streams %v", w, got, want)
		}
		last := 0.0
		for left := 0.0; left <= 100; left += 5 {
			got := at(left)
			if sum := got[0] + got[1]; sum < last*(1-1e-12) {
				t.Fatalf("%+v waits %g cycles if %g are left, %g if fewer are", w, sum, left, last)
			} else {
				last = sum
			}
		}
		if got, want := w.WaitFixed(levels), without.WaitFixed(waitLevels); !slices.Equal(got, want) {
			t.Fatalf("fixed: %v, without streams %v", got, want)
		}
	}
}

func TestPenalties(t *testing.T) {
	cacheOf := func(name string, latency machine.Cycles, bypass bool) machine.Cache {
		return machine.Cache{Level: cache.Level{Name: name, BypassFloat: bypass}, Latency: latency}
	}
	m := &machine.Machine{
		Caches:    []machine.Cache{cacheOf("L1D", 1, true), cacheOf("L2", 6, false), cacheOf("L3", 0, false), cacheOf("L4", 40, false)},
		Memory:    machine.Memory{RestartLatency: 200},
		Exposures: []machine.Exposure{{Level: machine.MemoryLevel, Share: 0.25}},
	}
	got, warnings := Penalties(m)
	want := []Penalty{{Level: "L2", Share: 1}, {Level: "L3", Latency: 34, Share: 1, Stream: 34}, {Level: "L4", Latency: 160, Share: 0.25, Stream: 194}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// What prefetching leaves of 200 cycles is beyond a hit of 6, in every level.
	m.Memory.StreamLatency = 60
	want[2].Stream = 54
	if got, _ := Penalties(m); !slices.Equal(got, want) {
		t.Errorf("with prefetching %+v, want %+v", got, want)
	}
	m.Memory.StreamLatency = 5
	want[1].Stream, want[2].Stream = 0, 0
	if got, _ := Penalties(m); !slices.Equal(got, want) {
		t.Errorf("with prefetching into the first cache %+v, want %+v", got, want)
	}
	m.Memory.StreamLatency = 0
	all := strings.Join(warnings, "\n")
	for _, text := range []string{"miss L1D", "latency of L3 is not known"} {
		if !strings.Contains(all, text) {
			t.Errorf("no warning with %q among %q", text, warnings)
		}
	}
	m.Memory.RestartLatency = 30
	if got, warnings := Penalties(m); got[2].Latency != 0 || !strings.Contains(strings.Join(warnings, "\n"), "memory is below") {
		t.Errorf("memory quicker than a cache: %+v, %v", got[2], warnings)
	}
}
