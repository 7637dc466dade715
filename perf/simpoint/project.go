package simpoint

import (
	"fmt"
	"slices"

	"presage/perf/bbv"
)

// points holds vectors ready for clustering: n rows of stride numbers, of which
// the last stride-dims are 0, and their weights, which sum to n.
type points struct {
	n, dims, stride int
	at              []float64
	weight          []float64
}

func (p *points) row(i int) []float64 { return p.at[i*p.stride : (i+1)*p.stride : (i+1)*p.stride] }

// lane is the factor of all strides.
const lane = 4

// project normalises vectors to a sum of 1 and multiplies them by a matrix of
// uniform random numbers from -1 to 1. A row of the matrix depends only on the
// seed and the block.
func project(v *bbv.Vectors, opt *Options) (*points, error) {
	ids := slices.Clone(v.Blocks)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	dims := opt.Dims
	if dims == NoProjection {
		dims = len(ids)
	}
	p := &points{n: v.Len(), dims: dims, stride: (dims + lane - 1) / lane * lane}
	if p.stride*max(p.n, len(ids)) > maxElements {
		return nil, fmt.Errorf("simpoint: %d intervals and %d blocks in %d dimensions take more than %d numbers; project to fewer dimensions",
			p.n, len(ids), dims, maxElements)
	}
	p.at = make([]float64, p.n*p.stride)
	p.weigh(v, opt.Equal)
	index := positions(ids)
	var matrix []float64
	switch {
	case opt.Dims == NoProjection:
	case opt.Rules.published():
		matrix = projectionOf(ids, dims, p.stride, opt.Rules.random(seedProjection+int64(opt.Seed)))
	default:
		matrix = projection(ids, dims, p.stride, opt.Seed)
	}
	for i := range p.n {
		blocks, counts := v.Interval(i)
		var sum float64
		for _, c := range counts {
			sum += float64(c)
		}
		row := p.row(i)
		for j, b := range blocks {
			share, k := float64(counts[j])/sum, index(b)
			if matrix == nil {
				row[k] = share
				continue
			}
			m := matrix[k*p.stride : (k+1)*p.stride]
			for d := range row {
				row[d] += share * m[d]
			}
		}
	}
	return p, nil
}

// positions returns a function from blocks to their index in ids, which ascend:
// by a table if that is not much longer than ids, else by bisection.
func positions(ids []uint32) func(uint32) int {
	last := 0
	if len(ids) > 0 {
		last = int(ids[len(ids)-1])
	}
	if last > 64*len(ids)+1<<16 {
		return func(b uint32) int {
			k, _ := slices.BinarySearch(ids, b)
			return k
		}
	}
	table := make([]int32, last+1)
	for k, b := range ids {
		table[b] = int32(k)
	}
	return func(b uint32) int { return int(table[b]) }
}

func projection(ids []uint32, dims, stride int, seed uint64) []float64 {
	m := make([]float64, len(ids)*stride)
	for k, b := range ids {
		r := stream(seed, purposeProjection, uint64(b))
		for d := range dims {
			m[k*stride+d] = 2*r.Float64() - 1
		}
	}
	return m
}

// weigh sets the weights of intervals, which sum to their number.
func (p *points) weigh(v *bbv.Vectors, equal bool) {
	p.weight = make([]float64, p.n)
	total := float64(v.Total())
	for i := range p.weight {
		p.weight[i] = 1
		if !equal {
			p.weight[i] = float64(v.Lengths[i]) / total * float64(p.n)
		}
	}
}
