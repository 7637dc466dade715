package advice

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/patterns"
)

// small is a machine whose L1 holds 24 lines of 64 bytes: tiles of 8 by 8 elements.
var small = &machine.Machine{
	Name: "small",
	Caches: []machine.Cache{
		{Level: cache.Level{Name: "L1", Blocks: 24, BlockBytes: 64}, Latency: 4},
		{Level: cache.Level{Name: "L2", Blocks: 240, BlockBytes: 64}, Latency: 14},
	},
	Memory: machine.Memory{RestartLatency: 114, OutstandingMisses: 5},
}

func row(level string, p patterns.Pattern, accesses, misses float64) patterns.Predicted {
	return patterns.Predicted{Program: "p", Point: map[string]float64{"n": 8}, Machine: "small", Level: level, Pattern: p, Accesses: accesses, Misses: misses, Low: 0.9 * misses, High: 1.1 * misses}
}

// TestKinds: what made-up patterns suggest, by the table of the package.
func TestKinds(t *testing.T) {
	in, out := "f/loop@1/loop@2", "f/loop@1"
	cold := func(object string) patterns.Predicted {
		return row("L1", patterns.Pattern{Scope: in, Object: object}, 100, 100)
	}
	again := row("L1", patterns.Pattern{Scope: in, Source: in, Carrier: out, Crosses: true, Object: "a"}, 900, 800)
	for name, c := range map[string]struct {
		rows  []patterns.Predicted
		want  Kind
		where string
		gain  float64
	}{
		"an outer loop carries it, inner ones carry nothing": {[]patterns.Predicted{cold("a"), again}, Interchange, out, 800},
		"inner loops carry the rest": {[]patterns.Predicted{
			cold("a"), cold("b"), again,
			row("L1", patterns.Pattern{Scope: in, Source: in, Carrier: in, Crosses: true, Object: "b"}, 5000, 0),
		}, Tile, out, 700}, // of reuses of the same elements, one in eight is left
		"the same data in each step": {[]patterns.Predicted{
			cold("a"), again,
			row("L1", patterns.Pattern{Scope: in, Source: in, Carrier: in, Crosses: true, Object: "a"}, 5000, 0),
		}, TileSteps, out, 800},
		"another loop before":     {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: "f/loop@9", Source: in, Object: "a"}, 700, 600)}, Fuse, "f/loop@9", 600},
		"another loop in a step":  {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: "f/loop@1/loop@3", Source: in, Carrier: out, Object: "a"}, 700, 600)}, Fuse, "f/loop@1/loop@3", 600},
		"first accesses":          {[]patterns.Predicted{cold("a")}, Nothing, "", 0},
		"the innermost loop":      {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: in, Source: in, Carrier: in, Crosses: true, Object: "a"}, 900, 800)}, Nothing, "", 0},
		"too little":              {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: "f/loop@9", Source: in, Object: "a"}, 4, 4)}, Nothing, "", 0},
		"the stack":               {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: "f/loop@9", Source: in, Object: "stack"}, 700, 600)}, Nothing, "", 0},
		"no loop accessed before": {[]patterns.Predicted{cold("a"), row("L1", patterns.Pattern{Scope: "f/loop@9", Source: "g", Object: "a"}, 700, 600)}, Nothing, "", 0},
	} {
		got, err := Predicted(small, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Advice != c.want || got[0].Where != c.where || math.Abs(got[0].Gain-c.gain) > 1e-9 || got[0].Text == "" {
			t.Errorf("%s: %+v, want %s of %s with %g", name, got, c.want, c.where, c.gain)
		}
		if r := got[0]; !(r.Low <= r.Gain && r.Gain <= r.High) {
			t.Errorf("%s: %g is not from %g to %g", name, r.Gain, r.Low, r.High)
		}
	}
}

// TestCycles: a change counts at all levels: 10 cycles a miss of L1, 100 of L2, a fifth
// of it if all overlap.
func TestCycles(t *testing.T) {
	p := patterns.Pattern{Scope: "f/loop@9", Source: "f/loop@1", Object: "a"}
	got, err := Predicted(small, []patterns.Predicted{row("L1", p, 1000, 500), row("L2", p, 1000, 100)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if math.Abs(r.CyclesHigh-1.1*(500*10+100*100)) > 1e-6 || math.Abs(r.CyclesLow-0.9*(500*10+100*100)/5) > 1e-6 {
			t.Errorf("%s: from %g to %g cycles", r.Level, r.CyclesLow, r.CyclesHigh)
		}
	}
	if len(got) != 2 || got[0].Share != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPredictedErrors(t *testing.T) {
	other := row("L1", patterns.Pattern{Scope: "other", Object: patterns.OtherPatterns}, 1, 1)
	if _, err := Predicted(small, []patterns.Predicted{other}); err == nil || !strings.Contains(err.Error(), "Listing") {
		t.Errorf("a sum of patterns: %v", err)
	}
	other.Machine = "large"
	if _, err := Predicted(small, []patterns.Predicted{other}); err == nil || !strings.Contains(err.Error(), "large") {
		t.Errorf("another machine: %v", err)
	}
	if _, err := Predicted(small, []patterns.Predicted{row("L4", patterns.Pattern{Scope: "f"}, 1, 1)}); err == nil || !strings.Contains(err.Error(), "L4") {
		t.Errorf("a level that the machine lacks: %v", err)
	}
	nan := row("L1", patterns.Pattern{Scope: "p"}, 0, math.NaN())
	if got, err := Predicted(small, []patterns.Predicted{nan}); err != nil || len(got) != 0 {
		t.Errorf("a level that is not predicted: %v, %v", got, err)
	}
}
