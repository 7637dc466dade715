package inferred

import "presage/perf/shard"

// counted is what the counts of a shard's run say of an architecture, without a
// simulation of any pipeline: misses in its caches, from Profiles.Misses or reuse
// distances, and bounds
// from shares of instructions, in cycles per instruction. It knows nothing of data
// flow and of branch predictors, which costs has from simulations.
type counted struct {
	data, code, both float64 // misses per instruction, in L1 and in L2

	core       float64 // the busiest of the width and the units, one operation a cycle each
	alone      float64 // core, and all misses one after the other
	overlapped float64 // core, and as many data misses at once as there are MSHRs
}

// counted returns what the counts say of the shard on the architecture.
func (p *placement) counted() counted {
	c := counted{
		data: p.missesOf(shard.Data), code: p.missesOf(shard.Code), both: p.missesOf(shard.Both),
		core: max(1/p.y("width_instructions"), p.x("taken"), p.x("memory")/p.y("ports"),
			(p.x("int_alu")+p.x("control"))/p.y("int_alus"), p.x("int_muldiv")/p.y("int_muls"),
			p.x("float_alu")/p.y("float_alus"), p.x("float_muldiv")/p.y("float_muls")),
	}
	data, code := c.data*p.y("l2_latency_cycles")+c.both*memoryCycles, c.code*p.y("l2_latency_cycles")
	c.alone = c.core + code + data
	c.overlapped = c.core + code + data/p.y("mshrs")
	return c
}

// meetings are the variables of Counted and Histograms in which a shard meets an architecture, in
// the order of values.
var meetings = []string{"l1d_misses_here", "l1i_misses_here", "l2_misses_here", "core_bound_cpi", "misses_alone_cpi", "misses_overlapped_cpi"}

func (c *counted) values() []float64 {
	return []float64{c.data, c.code, c.both, c.core, c.alone, c.overlapped}
}
