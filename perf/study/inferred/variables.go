package inferred

import (
	"fmt"

	"presage/perf/infer"
	"presage/perf/shard"
)

// Set is a set of variables that models are made of.
type Set string

// The sets.
const (
	// Portable is what one run of a shard on any machine tells of it, without a
	// simulation: the characteristics of Paper, and how much the shard touches,
	// which they do not say; and the parameters of Table 2. Models are of the
	// logarithm of CPI, with all products of two variables, shrunk (see
	// Options.Direct): a product on this scale is one of powers of variables.
	Portable Set = "portable"

	// Paper is the thirteen characteristics of software of 2012, Table 1, and
	// the thirteen parameters of hardware of its Table 2. How the two meet is
	// left to interactions.
	Paper Set = "paper"

	// Counted is Portable and what the same counts say of an architecture: the misses
	// in its caches, of all that were counted, and bounds of its units, without a
	// simulation of a pipeline (see counted). Models correct the sum of these with
	// misses overlapped, by a regression with a process (see Options.Process).
	Counted Set = "counted"

	// Histograms is Portable and the same as Counted adds to it, but with misses that
	// follow from the shard's histograms of reuse distances, as if blocks fell into sets
	// at random: what one run tells of caches of any geometry, without counting
	// misses in those of the hardware space.
	Histograms Set = "histograms"

	// LimitSet is the cost of each limit of a shard on an architecture, as a
	// share of the sum of all (see Shares), and the parameters of Table 2.
	// Models correct that sum. How software and hardware meet is worked out
	// beforehand, as in mechanistic models; how limits add up is left to the
	// regression.
	LimitSet Set = "limits"
)

// Check returns an error if s is none of the sets.
func (s Set) Check() error {
	if s != Paper && s != LimitSet && s != Portable && !s.meets() {
		return fmt.Errorf("perf: infer: %q is no set of variables; there are %s, %s, %s, %s and %s", string(s), Portable, Histograms, Counted, Paper, LimitSet)
	}
	return nil
}

// meets reports whether the set has variables in which a shard meets an architecture.
func (s Set) meets() bool { return s == Counted || s == Histograms }

// touches reports whether the set has footprints.
func (s Set) touches() bool { return s == Portable || s.meets() }

// Share is a variable of LimitSet.
type Share struct {
	Symbol string `frame:"symbol"`
	Name   string `frame:"variable"`
	Text   string `frame:"meaning"`
}

// share is a Share and how it follows from the costs.
type share struct {
	Share
	of func(c *costs) float64
}

// shares lists the shares. All are from 0 to 1, whatever the software, so that a
// model of few applications is rarely asked to extrapolate far.
func shares() []share {
	at := func(symbol, name, text string, of func(c *costs) float64) share {
		return share{Share{symbol, name, text}, of}
	}
	return []share{
		at("z1", "core_share", "the core: the largest of its bounds, in the sum", func(c *costs) float64 { return c.core / c.sum() }),
		at("z2", "branch_share", "mispredictions, in the sum", func(c *costs) float64 { return c.branch / c.sum() }),
		at("z3", "l1i_miss_share", "L1 instruction misses, in the sum", func(c *costs) float64 { return c.l1i / c.sum() }),
		at("z4", "l1d_miss_share", "L1 data misses, in the sum", func(c *costs) float64 { return c.l1d() / c.sum() }),
		at("z5", "l2_miss_share", "L2 misses, in the sum", func(c *costs) float64 { return c.l2() / c.sum() }),
		at("z6", "width_in_core", "1 / width, in the largest bound of the core", func(c *costs) float64 { return c.width / c.core }),
		at("z7", "int_alu_in_core", "integer ALU and control instructions / ALUs, in the largest bound", func(c *costs) float64 { return c.intALU / c.core }),
		at("z8", "int_mul_in_core", "x24 / integer multipliers, in the largest bound", func(c *costs) float64 { return c.intMul / c.core }),
		at("z9", "float_alu_in_core", "floating-point ALU instructions / ALUs, in the largest bound", func(c *costs) float64 { return c.floatALU / c.core }),
		at("z10", "float_mul_in_core", "x25 / floating-point multipliers, in the largest bound", func(c *costs) float64 { return c.floatMul / c.core }),
		at("z11", "port_in_core", "memory instructions / ports, in the largest bound", func(c *costs) float64 { return c.port / c.core }),
		at("z12", "taken_in_core", "taken branches, one a cycle, in the largest bound", func(c *costs) float64 { return c.taken / c.core }),
		at("z13", "flow_in_core", "data flow in the window, in the largest bound", func(c *costs) float64 { return c.flow / c.core }),
		at("z14", "flow_in_l1d", "cost of L1 data misses whose overlap data flow bounds, in the larger of that and the cost that MSHRs bound", func(c *costs) float64 { return part(c.l1dOverlapped, c.l1d()) }),
		at("z15", "mshrs_in_l1d", "cost of L1 data misses whose overlap MSHRs bound, in the larger one", func(c *costs) float64 { return part(c.l1dSerial, c.l1d()) }),
		at("z16", "flow_in_l2", "cost of L2 misses whose overlap data flow bounds, in the larger of that and the cost that MSHRs bound", func(c *costs) float64 { return part(c.l2Overlapped, c.l2()) }),
		at("z17", "mshrs_in_l2", "cost of L2 misses whose overlap MSHRs bound, in the larger one", func(c *costs) float64 { return part(c.l2Serial, c.l2()) }),
		at("z18", "l2_in_serial", "the larger one, in the cost of L2 misses one after the other", func(c *costs) float64 { return part(c.l2(), c.l2Alone) }),
	}
}

// Shares returns the shares of LimitSet.
func Shares() (list []Share) {
	for _, s := range shares() {
		list = append(list, s.Share)
	}
	return list
}

// footprints are the variables of Portable that Paper does not have: different blocks
// of 64 bytes of data and of code that a shard touches, and the accesses to data that
// it touched before, all for each of its instructions.
var footprints = []string{"data_blocks_touched", "code_blocks_touched", "data_reuses"}

// Variables returns the names of the variables of a set: characteristics of
// software or shares, then the thirteen parameters of Table 2, then meetings.
func Variables(set Set) []string {
	var names []string
	if set != LimitSet {
		for _, c := range shard.Characteristics() {
			names = append(names, c.Name)
		}
		if set.touches() {
			names = append(names, footprints...)
		}
	} else {
		for _, c := range shares() {
			names = append(names, c.Name)
		}
	}
	for _, y := range infer.HardwareSpace() {
		names = append(names, y.Name)
	}
	if set.meets() {
		names = append(names, meetings...)
	}
	return names
}
