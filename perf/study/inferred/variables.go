package inferred

import (
	"fmt"
	"math"

	"presage/perf/infer"
	"presage/perf/shard"
)

// Set is a set of variables to make models of.
type Set string

// The sets.
const (
	// Paper is the thirteen characteristics of software of 2012, Table 1,
	// and the thirteen parameters of hardware of its Table 2. What software
	// meets in hardware is left to interactions.
	Paper Set = "paper"

	// LimitSet is, of a shard on an architecture, the shares of what limits
	// it in their sum, and the parameters of Table 2. Models correct that sum.
	// What software meets in hardware is worked out beforehand, as in mechanistic
	// models, and how limits add up is left to the regression: see InferShares.
	LimitSet Set = "limits"
)

// Check reports a set that there is not.
func (s Set) Check() error {
	if s != Paper && s != LimitSet {
		return fmt.Errorf("perf: infer: %q is no set of variables; there are %s and %s", string(s), Paper, LimitSet)
	}
	return nil
}

// Share is a variable of InferLimitSet.
type Share struct {
	Symbol string `frame:"symbol"`
	Name   string `frame:"variable"`
	Text   string `frame:"meaning"`
}

// share is one with how it is found.
type share struct {
	Share
	of func(c *inferCosts) float64
}

// inferShares lists the shares. All are from 0 to 1, whatever the software, so
// that a model of few applications is hardly ever asked about what lies far
// outside of what it was made from.
func inferShares() []share {
	at := func(symbol, name, text string, of func(c *inferCosts) float64) share {
		return share{Share{symbol, name, text}, of}
	}
	return []share{
		at("z1", "core_share", "the core: the largest of its bounds, in the sum", func(c *inferCosts) float64 { return c.core / c.sum() }),
		at("z2", "branch_share", "mispredictions, in the sum", func(c *inferCosts) float64 { return c.branch / c.sum() }),
		at("z3", "l1i_miss_share", "L1 instruction misses, in the sum", func(c *inferCosts) float64 { return c.l1i / c.sum() }),
		at("z4", "l1d_miss_share", "L1 data misses, in the sum", func(c *inferCosts) float64 { return c.l1d() / c.sum() }),
		at("z5", "l2_miss_share", "L2 misses, in the sum", func(c *inferCosts) float64 { return c.l2() / c.sum() }),
		at("z6", "width_in_core", "1 / width, in the largest bound of the core", func(c *inferCosts) float64 { return c.width / c.core }),
		at("z7", "int_alu_in_core", "integer ALU and control instructions / ALUs, in the largest bound", func(c *inferCosts) float64 { return c.intALU / c.core }),
		at("z8", "int_mul_in_core", "x24 / integer multipliers, in the largest bound", func(c *inferCosts) float64 { return c.intMul / c.core }),
		at("z9", "float_alu_in_core", "floating-point ALU instructions / ALUs, in the largest bound", func(c *inferCosts) float64 { return c.floatALU / c.core }),
		at("z10", "float_mul_in_core", "x25 / floating-point multipliers, in the largest bound", func(c *inferCosts) float64 { return c.floatMul / c.core }),
		at("z11", "port_in_core", "memory instructions / ports, in the largest bound", func(c *inferCosts) float64 { return c.port / c.core }),
		at("z12", "taken_in_core", "taken branches, one a cycle, in the largest bound", func(c *inferCosts) float64 { return c.taken / c.core }),
		at("z13", "flow_in_core", "data flow in the window, in the largest bound", func(c *inferCosts) float64 { return c.flow / c.core }),
		at("z14", "flow_in_l1d", "cost of L1 data misses whose overlap data flow bounds, in the larger of that and the cost that MSHRs bound", func(c *inferCosts) float64 { return part(c.l1dOverlapped, c.l1d()) }),
		at("z15", "mshrs_in_l1d", "cost of L1 data misses whose overlap MSHRs bound, in the larger one", func(c *inferCosts) float64 { return part(c.l1dSerial, c.l1d()) }),
		at("z16", "flow_in_l2", "cost of L2 misses whose overlap data flow bounds, in the larger of that and the cost that MSHRs bound", func(c *inferCosts) float64 { return part(c.l2Overlapped, c.l2()) }),
		at("z17", "mshrs_in_l2", "cost of L2 misses whose overlap MSHRs bound, in the larger one", func(c *inferCosts) float64 { return part(c.l2Serial, c.l2()) }),
		at("z18", "l2_in_serial", "the larger one, in the cost of L2 misses one after the other", func(c *inferCosts) float64 { return part(c.l2(), c.l2Alone) }),
	}
}

// Shares returns the shares that the set InferLimitSet has.
func Shares() (list []Share) {
	for _, s := range inferShares() {
		list = append(list, s.Share)
	}
	return list
}

// part is of what there may be nothing.
func part(some, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return max(0, min(some/whole, 1))
}

// inferCosts are what each limit of a shard on an architecture would cost by
// itself, in cycles per instruction. A mechanistic model of a superscalar
// processor is a sum of such terms (Karkhanis and Smith, ISCA 2004; Eyerman and
// others, ACM TOCS 2009).
type inferCosts struct {
	width, intALU, intMul, floatALU, floatMul, port, taken, flow float64

	core        float64 // the largest of these
	branch, l1i float64

	// Of L1 data misses, and of L2 misses: as data flow in the window bounds their
	// overlap, as MSHRs do, and without any.
	l1dOverlapped, l1dSerial        float64
	l2Overlapped, l2Serial, l2Alone float64
}

// l1d is the larger of what misses cost by data flow and by MSHRs.
func (c *inferCosts) l1d() float64 { return max(c.l1dOverlapped, c.l1dSerial) }

func (c *inferCosts) l2() float64 { return max(c.l2Overlapped, c.l2Serial) }

// sum is a first estimate of CPI. It is positive, as the width is limited.
func (c *inferCosts) sum() float64 { return c.core + c.branch + c.l1i + c.l1d() + c.l2() }

// Variables returns the variables of a set: those of software, or
// shares, then the thirteen of Table 2.
func Variables(set Set) []string {
	var names []string
	if set == Paper {
		for _, c := range shard.Characteristics() {
			names = append(names, c.Name)
		}
	} else {
		for _, c := range inferShares() {
			names = append(names, c.Name)
		}
	}
	for _, y := range infer.HardwareSpace() {
		names = append(names, y.Name)
	}
	return names
}

// inferCase is a shard on an architecture.
type inferCase struct {
	shard    *Shard
	misses   map[inferCaches]Misses
	hardware map[string]float64
}

// inferCaches are all caches with so many sets that see a stream.
type inferCaches struct {
	stream string
	sets   uint64
}

func (c *inferCase) x(name string) float64 { return c.shard.Characteristics[name] }

func (c *inferCase) y(name string) float64 { return c.hardware[name] }

// values returns the variables of a set, and for models that correct one a first
// estimate of CPI.
func (c *inferCase) values(set Set, shares []share) (list []float64, estimate float64) {
	if set == Paper {
		for _, k := range shard.Characteristics() {
			list = append(list, c.x(k.Name))
		}
	} else {
		costs := c.costs()
		for _, k := range shares {
			list = append(list, k.of(costs))
		}
		estimate = costs.sum()
	}
	for _, p := range infer.HardwareSpace() {
		list = append(list, c.y(p.Name))
	}
	return list, estimate
}

// costs works out what limits the shard.
func (c *inferCase) costs() *inferCosts {
	data, both := c.missesOf(shard.Data)*c.y("l2_latency_cycles"), c.missesOf(shard.Both)
	k := &inferCosts{
		width:    1 / c.y("width_instructions"),
		intALU:   (c.x("int_alu") + c.x("control")) / c.y("int_alus"),
		intMul:   c.shard.Limits["int_mul_cpi"] / c.y("int_muls"),
		floatALU: c.x("float_alu") / c.y("float_alus"),
		floatMul: c.shard.Limits["float_mul_cpi"] / c.y("float_muls"),
		port:     c.x("memory") / c.y("ports"),
		taken:    c.x("taken"),
		flow:     c.window("window64_cpi", "window224_cpi"),
		branch:   c.window("branch64_cpi", "branch224_cpi"),
		l1i:      c.missesOf(shard.Code) * c.y("l2_latency_cycles"),

		l1dOverlapped: data * c.exposed("l1_miss64_cpi", "l1_miss224_cpi", "l1_misses", l1RefCycles-l1Cycles),
		l1dSerial:     data / c.y("mshrs"),
		l2Overlapped:  both * l2RefCycles * c.exposed("l2_miss64_cpi", "l2_miss224_cpi", "l2_misses", l2RefCycles-l1Cycles),
		l2Serial:      both * memoryCycles / c.y("mshrs"),
		l2Alone:       both * memoryCycles,
	}
	k.core = max(k.width, k.intALU, k.intMul, k.floatALU, k.floatMul, k.port, k.taken, k.flow)
	return k
}

// share is where the architecture's window lies between 64 and 224, by its
// logarithm.
func (c *inferCase) share() float64 {
	return math.Log(c.y("rob_instructions")/64) / math.Log(224./64)
}

// window interpolates a limit between windows of 64 and 224.
func (c *inferCase) window(small, large string) float64 {
	s := c.share()
	return (1-s)*c.shard.Limits[small] + s*c.shard.Limits[large]
}

// missesOf returns the misses per instruction in the first level of data or code,
// or, of both, in the second.
func (c *inferCase) missesOf(stream shard.Stream) float64 {
	ways := uint64(c.y("l1_ways"))
	if stream == shard.Both {
		ways = max(2, ways)
	}
	m := c.misses[inferCaches{stream.String(), blocks(int(c.y(cacheSizes()[stream]))) / ways}]
	misses := map[uint64]uint64{1: m.One, 2: m.Two, 4: m.Four, 8: m.Eight}[ways]
	return float64(misses) / float64(c.shard.Instructions)
}

// exposed returns the share of its latency that a miss of a reference cache
// costs in the window, on average: all of it where there were none to tell.
func (c *inferCase) exposed(small, large, misses string, latency float64) float64 {
	if c.shard.Limits[misses] == 0 {
		return 1
	}
	return part(c.window(small, large), c.shard.Limits[misses]*latency)
}
