package predict

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
)

// levels of a machine with 10 cycles from L1 to L2, 90 more to memory, and 50
// for a translation.
var waitLevels = []Penalty{
	{Level: "L1", Latency: 10, Share: 0.5}, {Level: "L2", Latency: 90, Share: 1}, {Level: "TLB", Latency: 50, Share: 1, TLB: true},
}

// Worked out by hand from the text of WaitOverlapped.
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
	want := []Penalty{{Level: "L2", Share: 1}, {Level: "L3", Latency: 34, Share: 1}, {Level: "L4", Latency: 160, Share: 0.25}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
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
