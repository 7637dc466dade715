package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/isa"
)

// TestThroughput compares with a maximum flow on random small cores.
func TestThroughput(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		c := Core{IssueWidth: 1 + rng.IntN(12)}
		for i := range 1 + rng.IntN(4) {
			c.Units = append(c.Units, Unit{fmt.Sprint("U", i), 1 + rng.IntN(3)})
		}
		var timing Timing
		for range rng.IntN(4) {
			u := Use{Cycles: Cycles(1 + rng.IntN(5))}
			for _, unit := range c.Units {
				if rng.IntN(2) == 0 {
					u.AnyOf = append(u.AnyOf, unit.Name)
				}
			}
			if len(u.AnyOf) > 0 {
				timing.Uses = append(timing.Uses, u)
			}
		}
		c.Classes = map[isa.Class]Timing{isa.ALU: timing}
		got, want := c.Throughput(isa.ALU), flowRate(&c, timing)
		if math.Abs(got-want) > 1e-9*want {
			t.Fatalf("%+v: %v a cycle, want %v", c, got, want)
		}
	}
	if c := (Core{IssueWidth: 4}); c.Throughput(isa.ALU) != 0 {
		t.Error("a class without timing has a throughput")
	}
}

// flowRate finds by bisection the highest rate at which the work of all uses can
// flow to the units.
func flowRate(c *Core, timing Timing) float64 {
	low, high := 0.0, float64(c.IssueWidth)
	if flows(c, timing, high) {
		return high
	}
	for range 200 {
		if middle := (low + high) / 2; flows(c, timing, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// flows reports whether units can do rate x cycles of each use, by augmenting
// paths from uses to units.
func flows(c *Core, timing Timing, rate float64) bool {
	load := make([][]float64, len(timing.Uses)) // by use and unit
	free := make([]float64, len(c.Units))
	for i, u := range c.Units {
		free[i] = float64(u.Count)
	}
	for i := range load {
		load[i] = make([]float64, len(c.Units))
	}
	for i, u := range timing.Uses {
		left := rate * float64(u.Cycles)
		for left > 1e-12 {
			moved := augment(c, timing, load, free, i, left, make([]bool, len(c.Units)))
			if moved <= 1e-13 {
				return false
			}
			left -= moved
		}
	}
	return true
}

// augment puts up to amount of use i on units, moving other uses aside.
func augment(c *Core, timing Timing, load [][]float64, free []float64, i int, amount float64, visited []bool) float64 {
	for u := range c.Units {
		if visited[u] || !slices.Contains(timing.Uses[i].AnyOf, c.Units[u].Name) {
			continue
		}
		visited[u] = true
		if free[u] > 1e-13 {
			moved := min(amount, free[u])
			free[u] -= moved
			load[i][u] += moved
			return moved
		}
		for j := range timing.Uses {
			if load[j][u] <= 1e-13 || j == i {
				continue
			}
			moved := augment(c, timing, load, free, j, min(amount, load[j][u]), visited)
			if moved > 0 {
				load[j][u] -= moved
				load[i][u] += moved
				return moved
			}
		}
	}
	return 0
}
