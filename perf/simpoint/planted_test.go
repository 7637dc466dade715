package simpoint_test

import (
	"math/rand/v2"
	"slices"

	"presage/perf/bbv"
)

// planted is a run with phases that are known.
type planted struct {
	intervals, blocks, nonzero, phases int
	noise                              float64 // of a block's count, relative, evenly to either side
	stray                              int     // blocks of each interval that do not belong to its phase
	unequal                            bool    // intervals differ in length by up to ten times
}

// vectors makes the run: each phase executes some blocks, each with a share of
// its own, and lasts for a while.
func (p planted) vectors(seed uint64) (*bbv.Vectors, []int) {
	r := rand.New(rand.NewPCG(seed, 0))
	phases := make([]map[uint32]float64, p.phases)
	for i := range phases {
		phases[i] = make(map[uint32]float64)
		for len(phases[i]) < p.nonzero-p.stray {
			phases[i][uint32(r.IntN(p.blocks))] = 1 + 99*r.Float64()
		}
	}
	v := &bbv.Vectors{First: []int{0}}
	truth := make([]int, p.intervals)
	phase, left := 0, 0
	var start uint64
	for i := range truth {
		if left == 0 {
			phase, left = r.IntN(p.phases), 1+r.IntN(40)
		}
		left--
		truth[i] = phase
		row := make(map[uint32]float64)
		for b, x := range phases[phase] {
			row[b] = x
		}
		for range p.stray {
			row[uint32(r.IntN(p.blocks))] += 2 * r.Float64()
		}
		length := 1e4
		if p.unequal {
			length *= 1 + 9*r.Float64()
		}
		start = appendRow(v, r, row, length, p.noise, start)
	}
	return v, truth
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
