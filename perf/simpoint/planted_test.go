package simpoint_test

import (
	"math/rand/v2"
	"slices"

	"presage/perf/bbv"
	"presage/perf/simpoint"
)

// planted is a run with phases that are known.
type planted struct {
	intervals, blocks, nonzero, phases int
	noise                              float64 // of a block's count, relative, evenly to either side
	stray                              int     // blocks of each interval that do not belong to its phase
	unequal                            bool    // intervals differ in length by up to ten times
}

// vectors makes the run.
func (p planted) vectors(seed uint64) (*bbv.Vectors, []int) {
	return simpoint.Planted{
		Intervals: p.intervals, Blocks: p.blocks, Phases: p.phases, Executed: p.nonzero, Noise: p.noise, Stray: p.stray, Unequal: p.unequal,
	}.Vectors(seed)
}

// unstructured makes a run whose intervals have nothing in common.
func unstructured(intervals, blocks, nonzero int, seed uint64) *bbv.Vectors {
	r := rand.New(rand.NewPCG(seed, 1))
	v := &bbv.Vectors{First: []int{0}}
	var start uint64
	for range intervals {
		row := make(map[uint32]float64)
		for len(row) < nonzero {
			row[uint32(r.IntN(blocks))] = 1 + 99*r.Float64()
		}
		start = appendRow(v, r, row, 1e4, 0, start)
	}
	return v
}

func appendRow(v *bbv.Vectors, r *rand.Rand, row map[uint32]float64, length, noise float64, start uint64) uint64 {
	var ids []uint32
	var sum float64
	for b := range row {
		ids = append(ids, b)
	}
	slices.Sort(ids)
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
