package advice

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/patterns"
)

// ahead is small with a prefetcher that leaves one in 64 blocks of a walk, the first of
// each page.
func ahead() *machine.Machine {
	m := *small
	m.Prefetchers = []machine.Prefetcher{{Prefetcher: cache.Prefetcher{Name: "next", Kind: cache.NextLine}}}
	return &m
}

func prefetched(r patterns.Predicted, p patterns.Prefetched) patterns.Predicted {
	r.Prefetched, r.Columns, r.Used, r.Pace = p, map[string]float64{}, 1, 100
	return r
}

// TestCoveredSavesNoCycles: a change is worth what prefetchers leave, and the waits for
// what they fetch late; what they cover saves nothing.
func TestCoveredSavesNoCycles(t *testing.T) {
	p := patterns.Pattern{Scope: "f/loop@9", Source: "f/loop@1", Object: "a"}
	got, err := Predicted(ahead(), []patterns.Predicted{
		prefetched(row("L1", p, 1000, 500), patterns.Prefetched{Left: 20, Late: 80, Covered: 400, Wait: 640}),
		prefetched(row("L2", p, 1000, 100), patterns.Prefetched{Covered: 100}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if want := 1.1 * (20*10 + 640); r.Gain != 500 || r.Ahead.Left != 20 || math.Abs(r.CyclesHigh-want) > 1e-6 || r.CyclesLate != 640 {
		t.Errorf("%+v, want a gain of 20 demand misses and %g cycles", r, want)
	}
	if r.Columns["pred_gain_demand_misses"] != 20 || !strings.Contains(r.Text, "cover 80.0%") || !strings.Contains(r.Text, "late on 16.0%") {
		t.Errorf("%v: %s", r.Columns, r.Text)
	}
}

// TestPrefetchersFollowWalks: once a column is walked through by rows, prefetchers have
// what misses for the first time, also at levels of which the change saves no miss.
func TestPrefetchersFollowWalks(t *testing.T) {
	in, out := "f/loop@1/loop@2", "f/loop@1"
	cold := patterns.Pattern{Scope: in, Object: "a"}
	again := patterns.Pattern{Scope: in, Source: in, Carrier: out, Crosses: true, Object: "a"}
	column := func(level string, p patterns.Pattern, accesses, misses float64) patterns.Predicted {
		r := prefetched(row(level, p, accesses, misses), patterns.Prefetched{Left: misses})
		r.Used = 0.125
		return r
	}
	got, err := Predicted(ahead(), []patterns.Predicted{
		column("L1", cold, 640, 640), column("L1", again, 4480, 4480), column("L2", cold, 640, 640), column("L2", again, 4480, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	const stay = 640 * 63 / 64 // that prefetchers then fetch
	for i, r := range got {
		want := []float64{4480 + stay, stay}[i]
		if r.Advice != Interchange || r.Ahead.Left != want || r.Gain != []float64{4480, 0}[i] {
			t.Errorf("%s: %s saves %g misses, of those that are left %g, want %g", r.Level, r.Advice, r.Gain, r.Ahead.Left, want)
		}
		if cycles := 1.1*4480*10 + stay*10 + stay*100; math.Abs(r.CyclesHigh-r.CyclesLate-cycles) > 1e-6 {
			t.Errorf("%s: %g cycles of demand misses, want %g", r.Level, r.CyclesHigh-r.CyclesLate, cycles)
		}
	}
}

// TestHarmIsNoAdvice: a change that adds to what prefetchers leave is not advised.
func TestHarmIsNoAdvice(t *testing.T) {
	r := Row{Misses: 100, Gain: 90, Left: 10, Ahead: patterns.Prefetched{Left: -5}}
	if r.worthwhile() {
		t.Error("advised")
	}
	if r.Ahead.Left = 0; !r.worthwhile() {
		t.Error("not advised, though it saves traffic")
	}
}

// TestStencilsAreInterchanged: a stencil down columns reuses its sides in the inner loop, and
// goes along rows all the same; a transposition, whose other side would then go down
// columns, does not, nor does a loop of steps with two nests in it.
func TestStencilsAreInterchanged(t *testing.T) {
	in, out := "f/loop@1/loop@2", "f/loop@1"
	across := patterns.Pattern{Scope: in, Source: in, Carrier: out, Crosses: true, Object: "a"}
	own := patterns.Pattern{Scope: in, Source: in, Carrier: in, Crosses: true, Object: "a"}
	along := patterns.Pattern{Scope: in, Source: in, Carrier: in, Crosses: true, Object: "b"}
	other := patterns.Pattern{Scope: "f/loop@1/loop@7", Object: "c"}
	spatial := func(p patterns.Pattern, accesses, misses float64) patterns.Predicted {
		r := prefetched(row("L1", p, accesses, misses), patterns.Prefetched{Left: misses})
		r.Used = 0.125
		return r
	}
	for name, c := range map[string]struct {
		rows []patterns.Predicted
		want Kind
	}{
		"stencil":       {[]patterns.Predicted{spatial(across, 900, 800), spatial(own, 3000, 0)}, Interchange},
		"transposition": {[]patterns.Predicted{spatial(across, 900, 800), spatial(along, 900, 0)}, Tile},
		"two nests":     {[]patterns.Predicted{spatial(across, 900, 800), spatial(other, 1, 1)}, Tile},
	} {
		got, err := Predicted(ahead(), c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Advice != c.want && !(c.want == Tile && got[0].Advice == TileSteps) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}
