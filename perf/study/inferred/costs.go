package inferred

import (
	"math"

	"presage/perf/infer"
	"presage/perf/predict"
	"presage/perf/shard"
)

// costs are what each limit of a shard on an architecture would cost by itself, in
// cycles per instruction. A mechanistic model of a superscalar processor is a sum
// of such terms (Karkhanis and Smith, ISCA 2004; Eyerman and others, ACM TOCS
// 2009).
type costs struct {
	width, intALU, intMul, floatALU, floatMul, port, taken, flow float64

	core        float64 // the largest of these
	branch, l1i float64

	// L1 data misses and L2 misses: if data flow in the window bounds their
	// overlap, if MSHRs do, and without any overlap.
	l1dOverlapped, l1dSerial        float64
	l2Overlapped, l2Serial, l2Alone float64
}

// l1d returns the cost of L1 data misses: the larger of the bounds on overlap.
func (c *costs) l1d() float64 { return max(c.l1dOverlapped, c.l1dSerial) }

// l2 returns the cost of L2 misses: the larger of the bounds on overlap.
func (c *costs) l2() float64 { return max(c.l2Overlapped, c.l2Serial) }

// sum returns a first estimate of CPI. It is positive, as the width is limited.
func (c *costs) sum() float64 { return c.core + c.branch + c.l1i + c.l1d() + c.l2() }

// placement is a shard on an architecture.
type placement struct {
	shard    *Shard
	misses   map[caches]Misses
	reuses   map[string]*distribution // of Histograms by stream: misses follow from these; otherwise nil
	hardware map[string]float64
}

func (p *placement) x(name string) float64 { return p.shard.Characteristics[name] }

func (p *placement) y(name string) float64 { return p.hardware[name] }

// values returns the variables of a set and, for one that has it, the estimate of CPI that
// models correct.
func (p *placement) values(set Set, shares []share) (list []float64, estimate float64) {
	if set != LimitSet {
		for _, k := range shard.Characteristics() {
			list = append(list, p.x(k.Name))
		}
		if set.touches() {
			n := float64(p.shard.Instructions)
			list = append(list, float64(p.shard.DataBlocks)/n, float64(p.shard.CodeBlocks)/n, float64(p.shard.DataReuses)/n)
		}
	} else {
		k := p.costs()
		for _, z := range shares {
			list = append(list, z.of(k))
		}
		estimate = k.sum()
	}
	for _, y := range infer.HardwareSpace() {
		list = append(list, p.y(y.Name))
	}
	if set.meets() {
		c := p.counted()
		list, estimate = append(list, c.values()...), c.overlapped
	}
	return list, estimate
}

// costs returns what each limit costs the shard.
func (p *placement) costs() *costs {
	data, both := p.missesOf(shard.Data)*p.y("l2_latency_cycles"), p.missesOf(shard.Both)
	k := &costs{
		width:    1 / p.y("width_instructions"),
		intALU:   (p.x("int_alu") + p.x("control")) / p.y("int_alus"),
		intMul:   p.shard.Limits["int_mul_cpi"] / p.y("int_muls"),
		floatALU: p.x("float_alu") / p.y("float_alus"),
		floatMul: p.shard.Limits["float_mul_cpi"] / p.y("float_muls"),
		port:     p.x("memory") / p.y("ports"),
		taken:    p.x("taken"),
		flow:     p.window("window64_cpi", "window224_cpi"),
		branch:   p.window("branch64_cpi", "branch224_cpi"),
		l1i:      p.missesOf(shard.Code) * p.y("l2_latency_cycles"),

		l1dOverlapped: data * p.exposed("l1_miss64_cpi", "l1_miss224_cpi", "l1_misses", l1RefCycles-l1Cycles),
		l1dSerial:     data / p.y("mshrs"),
		l2Overlapped:  both * l2RefCycles * p.exposed("l2_miss64_cpi", "l2_miss224_cpi", "l2_misses", l2RefCycles-l1Cycles),
		l2Serial:      both * memoryCycles / p.y("mshrs"),
		l2Alone:       both * memoryCycles,
	}
	k.core = max(k.width, k.intALU, k.intMul, k.floatALU, k.floatMul, k.port, k.taken, k.flow)
	return k
}

// windowAt returns where the logarithm of the architecture's window lies between
// those of 64 (0) and 224 (1).
func (p *placement) windowAt() float64 {
	return math.Log(p.y("rob_instructions")/64) / math.Log(224./64)
}

// window returns a limit interpolated between windows of 64 and 224.
func (p *placement) window(small, large string) float64 {
	s := p.windowAt()
	return (1-s)*p.shard.Limits[small] + s*p.shard.Limits[large]
}

// missesOf returns the misses per instruction in the first level, of data or code,
// or of both in the second level.
func (p *placement) missesOf(stream shard.Stream) float64 {
	ways := uint64(p.y("l1_ways"))
	if stream == shard.Both {
		ways = max(2, ways)
	}
	sets := blocks(int(p.y(cacheSizes()[stream]))) / ways
	if p.reuses != nil {
		return p.reuses[stream.String()].in(predict.Cache{Sets: sets, Ways: ways}) / float64(p.shard.Instructions)
	}
	m := p.misses[caches{stream.String(), sets}]
	misses := map[uint64]uint64{1: m.One, 2: m.Two, 4: m.Four, 8: m.Eight}[ways]
	return float64(misses) / float64(p.shard.Instructions)
}

// exposed returns the mean share of its latency that a miss of a reference cache
// costs in the window, or 1 if the cache had no misses.
func (p *placement) exposed(small, large, misses string, latency float64) float64 {
	if p.shard.Limits[misses] == 0 {
		return 1
	}
	return part(p.window(small, large), p.shard.Limits[misses]*latency)
}

// part returns some/whole clamped to [0,1], or 0 if whole is 0.
func part(some, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return max(0, min(some/whole, 1))
}
