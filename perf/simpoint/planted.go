package simpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"presage/perf/bbv"
)

// Planted describes a synthetic run with known phases, to judge labels by.
type Planted struct {
	Intervals, Blocks, Phases int
	Executed                  int     // blocks that each interval executes
	Noise                     float64 // of a block's count, relative, evenly to either side
	Stray                     int     // of the blocks of each interval: those that do not belong to its phase
	Unequal                   bool    // intervals differ in length by up to ten times
}

// Vectors generates the run: each phase executes some blocks, each with a fixed
// share, for up to 40 intervals at a time. truth is the phase of each interval.
// It panics if a phase would execute more blocks than exist.
func (p Planted) Vectors(seed uint64) (v *bbv.Vectors, truth []int) {
	if p.Executed > p.Blocks || p.Stray > p.Executed || p.Phases < 1 {
		panic(fmt.Sprintf("simpoint: a planted run of %+v", p))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	phases := make([]map[uint32]float64, p.Phases)
	for i := range phases {
		phases[i] = make(map[uint32]float64)
		for len(phases[i]) < p.Executed-p.Stray {
			phases[i][uint32(r.IntN(p.Blocks))] = 1 + 99*r.Float64()
		}
	}
	v = &bbv.Vectors{First: []int{0}}
	truth = make([]int, p.Intervals)
	phase, left := 0, 0
	var start uint64
	for i := range truth {
		if left == 0 {
			phase, left = r.IntN(p.Phases), 1+r.IntN(40)
		}
		left--
		truth[i] = phase
		row := make(map[uint32]float64)
		for b, x := range phases[phase] {
			row[b] = x
		}
		for range p.Stray {
			row[uint32(r.IntN(p.Blocks))] += 2 * r.Float64()
		}
		length := 1e4
		if p.Unequal {
			length *= 1 + 9*r.Float64()
		}
		start = plantRow(v, r, row, length, p.Noise, start)
	}
	return v, truth
}

// plantRow appends an interval and returns where it ends.
func plantRow(v *bbv.Vectors, r *rand.Rand, row map[uint32]float64, length, noise float64, start uint64) uint64 {
	ids := slices.Sorted(maps.Keys(row))
	var sum float64
	for _, b := range ids {
		sum += row[b]
	}
	var total uint64
	for _, b := range ids {
		n := uint64(row[b]/sum*length*(1+noise*(2*r.Float64()-1))) + 1
		v.Blocks, v.Instructions = append(v.Blocks, b), append(v.Instructions, n)
		total += n
	}
	v.Starts, v.Lengths, v.First = append(v.Starts, start), append(v.Lengths, total), append(v.First, len(v.Blocks))
	return start + total
}
