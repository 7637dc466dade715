package advice

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/patterns"
	"presage/perf/predict"
)

// TestStepsLeaveTheirOwn: eight steps share 400 blocks, 4 in each of 100 rows, and have 2
// blocks each for themselves, which they come back to in every row. Where 20 blocks fit,
// those of all steps stay beside a row. Where 18 do, they leave once for the rows that are
// done together: two, as four of them would not stay themselves.
func TestStepsLeaveTheirOwn(t *testing.T) {
	const steps, rows, deep = "f/loop@1", "f/loop@1/loop@2", "f/loop@1/loop@2/loop@3"
	facts := func() []patterns.Predicted {
		return []patterns.Predicted{
			row("L1", patterns.Pattern{Scope: deep, Object: "a"}, 400, 400),
			row("L1", patterns.Pattern{Scope: deep, Source: deep, Carrier: steps, Crosses: true, Object: "a"}, 2800, 2800),
			row("L1", patterns.Pattern{Scope: deep, Object: "x"}, 16, 16),
			row("L1", patterns.Pattern{Scope: deep, Source: deep, Carrier: rows, Crosses: true, Object: "x"}, 1584, 0),
			row("L1", patterns.Pattern{Scope: deep, Source: deep, Carrier: deep, Crosses: true, Object: "x"}, 9000, 0),
			row("L1", patterns.Pattern{Scope: deep, Object: patterns.OtherPatterns}, 9000, 0),
		}
	}
	for _, c := range []struct {
		blocks    uint64
		ways      int
		gain, low float64
		rows      string
	}{
		{24, 0, 2800, 2520, "one block of the data"},
		{18, 0, 2800 - 1584/2, 2800 - 1584, "2 iterations of the loop inside"},
		{32, 4, 0, 0, ""},
	} {
		m := *small
		m.Caches = []machine.Cache{{Level: cache.Level{Name: "L1", Blocks: c.blocks, Ways: c.ways, BlockBytes: 64}, Latency: 4}, small.Caches[1]}
		got, err := Predicted(&m, facts())
		if err != nil {
			t.Fatal(err)
		}
		if c.ways > 0 { // by the formula of sets
			p := predict.Cache{Sets: 8, Ways: 4}.MissProbability
			best, one := math.Inf(1), 1584*p(20)+2800*p(6)
			for n := 1.0; n < 100; n *= 2 {
				best = math.Min(best, 1584/n*p(16+4*n)+2800*p(4*n+2))
			}
			c.gain, c.low, c.rows = 2800-best, math.Min(2520-best, 2800-one), "iterations of the loop inside"
		}
		r := got[0]
		if len(got) != 1 || r.Advice != TileSteps || math.Abs(r.Gain-c.gain) > 1e-9 || math.Abs(r.Low-c.low) > 1e-9 || !strings.Contains(r.Text, c.rows) {
			t.Errorf("%d blocks: %+v, want a gain of %g, at least %g, %s", c.blocks, got, c.gain, c.low, c.rows)
		}
		if math.Abs(r.High-3080) > 1e-9 || r.Ahead.Left != r.Gain {
			t.Errorf("%d blocks: %+v: the most that it may be is 3080", c.blocks, r)
		}
	}
}
