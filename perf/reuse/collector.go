// Package reuse turns the batches of a run into exact reuse-distance
// histograms, one for each reference group, at one block size; or, on request,
// into estimates of them from a sample of the blocks.
//
// The reuse distance of an access is the number of distinct other blocks
// accessed since the last access to the same block; the first access to a
// block is cold and has none. In a fully associative LRU cache of C blocks an
// access hits exactly if its distance is less than C (2004 paper, section
// 2.2.2; 2005 paper, section 3).
//
//	address   0x00 0x40 0x80 0x48 0x00 0x00
//	block        0    1    2    1    0    0    at 64 bytes
//	distance  cold cold cold    1    2    0
//
// Distances are exact. They are counted in bins of one distance below 512 and
// of a relative width of at most 1/256 above: see Histogram.Misses.
//
// An access that spans several blocks accesses each of them once, by ascending
// address. All threads of a program share one stack, in the order of the
// batches. Loads and stores are treated alike.
//
// Method (derived here from the balanced tree over times of last access of the
// 2004 paper, section 2.2.2, steps 1 to 5): a time line of slots, one bit each,
// live for the last access of a block; the distance is the number of live slots
// after the block's own, found from counts of live slots by word, line and tree
// node (timeline.go); a radix tree from block to slot (table.go); the few
// blocks accessed last are kept apart, in order (front.go). Memory is
// proportional to the blocks touched: about 20 to 45 bytes for each where they
// lie close together; a block with no other within 512 blocks costs 2 KiB, and
// one with no other within a MiB of blocks 8 KiB more.
//
// Several workers (Options.Workers) cut a run in time, each analyses chunks of it, and
// reuses across the cuts are resolved exactly (parallel.go); carriers and sources of
// reuses, too (carrierpart.go). They have tables of their own for the blocks of their
// chunks, beside those of the run, and batches that wait for them, held or copied. Both
// together stay within Options.MemoryBytes: at most a quarter of it waits, but at least
// 1 MiB and a batch for each worker, and once the tables have grown to the rest, the run
// is cut no more and one worker goes on, with tables that grow to at most those of the
// run. Of one core, or where the engine is slower than one worker, nothing is cut.
package reuse

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"

	"presage/perf/trace"
)

const (
	// defaultBlockBytes is the block size of the zero Options.
	defaultBlockBytes = 64

	// maxBlockBytes is the largest block size: 1 GiB, a huge page.
	maxBlockBytes = 1 << 30

	// firstWindow is the number of slots of a new time line.
	firstWindow = 1 << 16
)

// Options configures a Collector.
type Options struct {
	// BlockBytes is the size of a memory block, at most 1 GiB; 0 means 64. Powers
	// of two are fastest. Blocks of other sizes lie side by side from address 0 on
	// all the same, and take no Objects.
	BlockBytes uint64

	// Workers is the number of goroutines that share the work; 0 means 1. The result
	// does not depend on it. More than one helps if processors would idle otherwise:
	// the collectors of several block sizes already run side by side, and cutting a
	// run in time costs work. Spread chooses it. Observe then returns before its batch
	// is analysed, so a panic may surface in a later call of Observe or Result.
	Workers int

	// MemoryBytes bounds what several Workers take beside the tables of the run: batches
	// that wait, and tables of their own. See the package documentation. 0
	// means DefaultMemoryBytes.
	MemoryBytes uint64

	// Nest, if not nil, asks for Result.Carried: the loop that carries each
	// reuse. It takes a plan that records blocks, all of its references in them,
	// and no sampling; several Workers only with Sources.
	Nest *Nest

	// Objects, with Nest, are ranges of addresses, in any order, of which none
	// overlap: Result.Carried tells accesses to them apart.
	Objects []Object

	// Sources, with Nest, are numbers from 0 of the scopes that the plan's
	// references are in: Result.Carried tells apart which of them accessed the block
	// before. It takes four bytes for each block, and two to three times as long.
	Sources []int32

	// Births, with Sources, are numbers from 0 of the plan's references: objects with
	// ByBirth are told apart by that of the reference that accessed a block first.
	// Heaps are divided into what the program initialised in different places.
	Births []int32

	// Memory, with Nest, tells of further objects by the changes of batches: they have
	// the numbers from len(Objects) on, and come before Objects where both hold an
	// address. It belongs to the Collector, of one worker.
	Memory Memory

	// NewMemory, in place of Memory, returns one for each of the Workers: all take the
	// same changes in the same order, and must number objects alike.
	NewMemory func() Memory

	// SampleOneIn, a power of two of at most 2^20, samples one block in this
	// many, chosen by a hash of its number: the result is an estimate with an
	// error, see Result.Estimate. 0 and 1 mean exact. Sampling takes one
	// worker.
	SampleOneIn uint64

	// SampleSeed chooses the hash: the same seed samples the same blocks.
	SampleSeed uint64
}

// Spread sets Workers and MemoryBytes for one of several collectors of a run, at least
// one, which run side by side: they share the processors that the process may use
// (GOMAXPROCS), each has at least one worker, and together they have the default
// memory. A sample takes one worker, as does a Nest without Sources or with a Memory.
func (o *Options) Spread(collectors int) {
	o.Workers = max(1, runtime.GOMAXPROCS(0)/collectors)
	o.MemoryBytes = DefaultMemoryBytes / uint64(collectors)
	if o.SampleOneIn > 1 || o.Nest != nil && (o.Sources == nil || o.Memory != nil) {
		o.Workers = 1
	}
}

// Collector measures the reuse distances of a run. It is a trace.Collector.
type Collector struct {
	blockBytes uint64
	method     method
}

// method finds reuse distances.
type method interface {
	observe(b *trace.Batch)
	result() *Result // all but BlockBytes
}

var (
	_ trace.RunCollector = (*Collector)(nil)
	_ trace.Holder       = (*Collector)(nil)
	_ method             = (*stack)(nil)
	_ method             = (*parallel)(nil)
	_ method             = (*sampler)(nil)
	_ method             = (*carriers)(nil)
)

// New returns a Collector for runs under plan.
func New(plan *trace.Plan, opt Options) (*Collector, error) {
	return newCollector(plan, opt, tuning{window: firstWindow})
}

// tuning holds sizes that tests make small, to reach what otherwise only long
// runs do.
type tuning struct {
	window int // slots of a new time line
	cut    int // bytes of batches after which a run is cut for workers; 0: where it helps
}

func newCollector(plan *trace.Plan, opt Options, tune tuning) (*Collector, error) {
	if plan == nil {
		return nil, fmt.Errorf("reuse: no plan: distances are counted for its groups")
	}
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("reuse: %w", err)
	}
	size := cmp.Or(opt.BlockBytes, defaultBlockBytes)
	if err := opt.check(size); err != nil {
		return nil, err
	}
	m, err := newMethod(newLayout(plan, size), plan, &opt, tune)
	if err != nil {
		return nil, err
	}
	if !isPowerOfTwo(size) {
		u := newUneven(m, nil, size)
		if opt.Nest != nil {
			u.plan = plan
		}
		m = u
	}
	return &Collector{blockBytes: size, method: m}, nil
}

// isPowerOfTwo takes 0, which stands for defaults, to be one.
func isPowerOfTwo(n uint64) bool { return n&(n-1) == 0 }

// check returns an error if options contradict each other, or are out of range. It takes
// the size of a block, as BlockBytes may be the default.
func (o *Options) check(size uint64) error {
	even := isPowerOfTwo(size)
	sampled := o.SampleOneIn > 1
	switch {
	case size > maxBlockBytes:
		return fmt.Errorf("reuse: BlockBytes is %d, want 1 to %d", size, maxBlockBytes)
	case (o.Memory != nil || o.NewMemory != nil) && (o.Nest == nil || !even):
		return fmt.Errorf("reuse: Memory without a Nest, or with BlockBytes of %d, which is no power of two", size)
	case !even && len(o.Objects) > 0:
		return fmt.Errorf("reuse: BlockBytes is %d, want a power of two with Objects", size)
	case o.Workers < 0:
		return fmt.Errorf("reuse: Workers is %d, want at least 1, or 0 for 1", o.Workers)
	case !isPowerOfTwo(o.SampleOneIn) || o.SampleOneIn > maxOneIn:
		return fmt.Errorf("reuse: SampleOneIn is %d, want a power of two from 1 to %d, or 0 for 1", o.SampleOneIn, maxOneIn)
	case len(o.Objects) > 0 && o.Nest == nil:
		return fmt.Errorf("reuse: %d Objects without a Nest: they take one", len(o.Objects))
	case o.Sources != nil && o.Nest == nil:
		return fmt.Errorf("reuse: Sources without a Nest: they take one")
	case sampled && o.Nest != nil:
		return fmt.Errorf("reuse: SampleOneIn is %d: a Nest takes no sampling", o.SampleOneIn)
	case sampled && o.Workers > 1:
		return fmt.Errorf("reuse: Workers is %d and SampleOneIn %d: sampling takes one worker", o.Workers, o.SampleOneIn)
	}
	return nil
}

// newMethod returns the method that options ask for, in blocks of powers of two.
func newMethod(l layout, plan *trace.Plan, opt *Options, tune tuning) (method, error) {
	switch {
	case opt.Nest != nil:
		return newCarrying(l, plan, opt, tune)
	case opt.SampleOneIn > 1:
		return newSampler(l, opt.SampleOneIn, opt.SampleSeed, tune.window), nil
	case opt.Workers > 1:
		return newParallel(opt, tune, &stackChunks{l, newPast(l, tune.window), tune.window}), nil
	}
	return newStack(l, tune.window), nil
}

// layout is what all methods know before a run begins.
type layout struct {
	shift   uint     // log2 of the block size, rounded down
	groupOf []uint32 // reference → group
	groups  int
}

func newLayout(plan *trace.Plan, blockBytes uint64) layout {
	l := layout{
		shift:   evenShift(blockBytes),
		groupOf: make([]uint32, len(plan.Refs)),
		groups:  plan.Groups(),
	}
	for i := range plan.Refs {
		l.groupOf[i] = uint32(plan.Refs[i].Group)
	}
	return l
}

// blockBits returns the number of bits of a block number.
func (l *layout) blockBits() uint {
	return uint(bits.TrailingZeros64(trace.AddrLimit)) - l.shift
}

// Observe implements trace.Collector. It panics if a batch names a reference
// that is not in the plan, or if more distinct blocks are touched than 32-bit
// numbers can distinguish (over 500 million).
func (c *Collector) Observe(b *trace.Batch) { c.method.observe(b) }

// Hold implements trace.Holder: several workers spare themselves copies of batches.
func (c *Collector) Hold(b *trace.Batch, done func()) {
	if p, ok := c.method.(*parallel); ok {
		p.add(b, done)
		return
	}
	c.method.observe(b)
	done()
}

// TakesRuns implements trace.RunCollector: runs of loops cost little more than
// the blocks that they move through, in exact distances without a Nest. Others see
// expanded batches. Blocks of sizes that are no powers of two take none.
func (c *Collector) TakesRuns() bool {
	switch m := c.method.(type) {
	case *stack:
		return true
	case *parallel:
		return m.chunks.takesRuns()
	}
	return false
}

// Result returns the histograms of the accesses observed so far.
func (c *Collector) Result() *Result {
	r := c.method.result()
	r.BlockBytes = c.blockBytes
	return r
}
