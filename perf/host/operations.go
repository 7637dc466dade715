package host

import (
	"cmp"

	"presage/perf/isa"
)

// Operands that no unit handles faster, such as powers of two; a number near 1
// keeps products finite.
const (
	oddInteger   = 0x9e3779b97f4a7c15 // of 64 bits
	halfInteger  = 3_141_592_653      // its square is near the dividend below
	dividend     = halfInteger*halfInteger + 12345
	nearOne      = 1 + 0x1p-52
	float        = 1.2345678901234567
	floatDivided = 2.7182818284590452
)

// integers returns a function that runs rounds of a kernel with the operands x
// and y and keeps the results.
func integers(kernel func(x, y uint64, rounds int) uint64, x, y uint64) func(rounds int) {
	var kept uint64
	return func(rounds int) { kept += kernel(x, y, rounds) }
}

// floats is integers for floating point.
func floats(kernel func(x, y float64, rounds int) float64, x, y float64) func(rounds int) {
	var kept float64
	return func(rounds int) { kept += kernel(x, y, rounds) }
}

// products is floats for kernels with a third operand.
func products(kernel func(x, y, z float64, rounds int) float64, y float64) func(rounds int) {
	var kept float64
	return func(rounds int) { kept += kernel(float, y, float, rounds) }
}

func (c *calibration) clock() (err error) {
	c.Cycle, err = c.timed(chainOps, integers(addChain, 1, oddInteger))
	return err
}

// tick measures the clock again briefly: it may have increased since, and
// results at a higher frequency must be counted in its cycles. The mix for many
// units is also measured again: it suffers most from another thread on the
// core, and a moment without one suffices.
func (c *calibration) tick() error {
	short := meter{c.ctx, 3, c.slice / 8}
	s, err := short.time(integers(addChain, 1, oddInteger))
	if err != nil {
		return err
	}
	c.Cycle.Min = min(c.Cycle.Min, s.Min/chainOps)
	return c.width(short)
}

// width measures the instructions per cycle of a mix for many units.
func (c *calibration) width(m meter) error {
	var w words
	s, err := m.time(func(n int) { mixStream(&w, oddInteger, nearOne, n) })
	if err == nil && s.Min <= 0 {
		err = errNoTime
	}
	if err == nil {
		c.MixNs = s.scaled(1.0 / mixOps).orLess(c.MixNs)
	}
	return err
}

// operations measures each kind of operation in a chain and in a stream.
// Smaller earlier results are kept.
func (c *calibration) operations() error {
	var w words
	for _, k := range []struct {
		class         isa.Class
		chain, stream func(rounds int)
		ops           int // of the stream; 0: streamOps
	}{
		{isa.ALU, integers(addChain, 1, oddInteger), integers(addStream, 1, oddInteger), integerStreamOps},
		{isa.Multiply, integers(mulChain, 3, oddInteger), integers(mulStream, 3, oddInteger), integerStreamOps},
		{isa.Divide, integers(divChain, halfInteger, dividend), integers(divStream, halfInteger, dividend), 0},
		{isa.FPAdd, floats(floatAddChain, float, nearOne), floats(floatAddStream, float, nearOne), 0},
		{isa.FPMultiply, floats(floatMulChain, float, nearOne), floats(floatMulStream, float, nearOne), 0},
		{isa.FPDivide, floats(floatDivChain, float, floatDivided), floats(floatDivStream, float, floatDivided), 0},
		{isa.FPSqrt, floats(sqrtChain, float, floatDivided), floats(sqrtStream, float, floatDivided), 0},
		{isa.FPFused, products(fusedChain, nearOne), products(fusedStream, nearOne), 0},
		{isa.Load, nil, func(n int) { loadStream(&w, n) }, 0},
		{isa.Store, nil, func(n int) { storeStream(&w, 1, n) }, 0},
		{isa.Branch, nil, integers(func(x, _ uint64, n int) uint64 { return branchStream(x, n) }, 2, 0), 0},
	} {
		if k.class == isa.FPFused && !hasFused() {
			if len(c.Mixes) == 0 { // the first time
				c.warn("the processor has no fused multiply-add: it is described as a multiplication and an addition")
			}
			continue
		}
		op := Operation{Class: k.class}
		var err error
		if op.Reciprocal, err = c.timed(cmp.Or(k.ops, streamOps), k.stream); err != nil {
			return err
		}
		if k.chain != nil {
			if op.Latency, err = c.timed(chainOps, k.chain); err != nil {
				return err
			}
		}
		if k.class == isa.FPSqrt { // its chain holds additions: see sqrtChain
			add := c.operation(isa.FPAdd).Latency
			op.Latency = Sample{op.Latency.Min - add.Min, op.Latency.Median - add.Median, op.Latency.Max - add.Min}
		}
		c.keep(op)
		if err := c.tick(); err != nil {
			return err
		}
	}
	if err := c.width(c.meter); err != nil {
		return err
	}
	return c.mixes()
}

// keep merges a measurement of a class, keeping the smaller of each time.
func (c *calibration) keep(op Operation) {
	for i := range c.Operations {
		if old := &c.Operations[i]; old.Class == op.Class {
			old.Latency, old.Reciprocal = op.Latency.orLess(old.Latency), op.Reciprocal.orLess(old.Reciprocal)
			return
		}
	}
	c.Operations = append(c.Operations, op)
}

func (c *calibration) mixes() error {
	type kernel struct {
		a, b isa.Class
		y    float64
		body func(x, y, z float64, rounds int) float64
	}
	kernels := []kernel{{isa.FPAdd, isa.FPMultiply, nearOne, addMulMix}, {isa.FPDivide, isa.FPSqrt, floatDivided, divSqrtMix}}
	if hasFused() {
		kernels = append(kernels, kernel{isa.FPMultiply, isa.FPFused, nearOne, mulFusedMix}, kernel{isa.FPAdd, isa.FPFused, nearOne, addFusedMix})
	}
	for _, k := range kernels {
		s, err := c.timed(streamOps/2, products(k.body, k.y))
		if err != nil {
			return err
		}
		c.keepMix(Mix{k.a, k.b, s})
	}
	return nil
}

func (c *calibration) keepMix(m Mix) {
	for i := range c.Mixes {
		if old := &c.Mixes[i]; old.A == m.A && old.B == m.B {
			old.Pair = m.Pair.orLess(old.Pair)
			return
		}
	}
	c.Mixes = append(c.Mixes, m)
}

// operation returns the measurement of a class; zero if there is none.
func (p *Profile) operation(class isa.Class) Operation {
	for _, op := range p.Operations {
		if op.Class == class {
			return op
		}
	}
	return Operation{Class: class}
}

// branches measures the cost of a misprediction: half the predictions of a
// branch on a random bit are wrong, none of one that always goes the same way.
func (c *calibration) branches() error {
	var w words
	const seed = 88172645463325252
	run := func(mask, invert uint64) (Sample, error) {
		return c.timed(1, func(rounds int) { guess(&w, seed, mask, invert, rounds) })
	}
	random, err := run(1, 0)
	if err != nil {
		return err
	}
	one, err := run(0, 0)
	if err != nil {
		return err
	}
	other, err := run(0, 1)
	if err != nil {
		return err
	}
	least, middle := (one.Min+other.Min)/2, (one.Median+other.Median)/2
	got := Sample{2 * (random.Min - least), 2 * (random.Median - middle), 2 * (random.Max - least)}
	if before := c.Mispredict; before.Median > 0 && before.Max-before.Min <= got.Max-got.Min {
		return nil // the steadier pass counts
	}
	c.Mispredict = got
	if c.Mispredict.Min < c.Cycle.Min {
		c.warn("wrong guesses of branches do not show: they cost less than a cycle, or the compiler made a conditional move")
	}
	return nil
}

// maxDisturbed is the ratio of the median to the fastest repeat of the clock
// above which the machine counts as disturbed.
const maxDisturbed = 1.25

// doubts adds warnings about the whole calibration.
func (c *calibration) doubts() {
	if r := c.Cycle.Median / c.Cycle.Min; r > maxDisturbed {
		c.warn("the machine was disturbed: the median repeat of a chain of additions took %.1f times as long as the fastest", r)
	}
	if c.Virtual {
		c.warn("this is a virtual machine: a TLB miss walks two page tables, neighbours take a part of shared caches and of memory, another thread may run on this core")
	}
}
